import { existsSync } from 'node:fs'
import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { openLmdbEventLog } from '../../adapters/event-log/lmdb.ts'
import { openLmdbEventLogReadOnly } from '../../adapters/event-log/lmdb-read-only.ts'
import { makeFolder } from '../../adapters/make-folder.ts'
import { syncFolder } from '../../adapters/sync-folder.ts'
import { openExportedLog } from '../../audit/exported-log.ts'
import { lastEvent, type OnProgress } from '../../audit/read-log.ts'
import { type Verification, verifyLog } from '../../audit/verify/verify.ts'
import type { Config } from '../../boot/config.ts'
import { BEFORE_FIRST } from '../../ports/event-log.ts'
import { isObjectKey } from '../../ports/object-store.ts'
import { OperatorError } from '../operator-error.ts'
import { logFolder } from './back-up.ts'
import { appendAll, EMBEDDED_AT_ONCE } from './copy-log.ts'
import { eraseAgain, erasuresBeside } from './erasures.ts'
import { EVENTS, LOG, MASTER_SECRET, OBJECT_NAMES, OBJECTS, type ReadBackup, readBackup, SEAL_KEY } from './facts.ts'
import { copyFiles, digestsOf } from './files.ts'

interface NamedBackup extends ReadBackup {
  folder: string
}

interface Restored {
  verification: Verification
  /** The files of secrets that neither the backups nor the environment gave. */
  missingSecrets: string[]
  /** The accounts that are listed beside the backups, and how many of them the restore erased. */
  erasures: string[]
  erased: number
}

/**
 * Restores a full backup and the incremental backups that continue it into empty stores. The log comes last, and gets
 * its name when it is whole: a service does not start on a part of it, and the command can be repeated. Throws
 * OperatorError.
 */
export const restore = async (
  config: Config,
  folders: readonly string[],
  onProgress: OnProgress,
): Promise<Restored> => {
  const target = logFolder(config)
  const partial = `${target}.restoring`
  await expectEmpty(config, target, partial)
  const backups = await readChain(folders)
  for (const backup of backups) await expectWhole(backup)

  await rm(partial, { recursive: true, force: true })
  makeFolder(partial)
  const isKept = await keptBy(backups)
  for (const { folder, sums } of backups) {
    await copyObjects(config, folder, [...sums.keys()], isKept)
    for (const { name, path } of secretsOf(config)) if (sums.has(name)) await copySecret(join(folder, name), path)
  }
  await restoreLog(backups, partial)
  const log = openLmdbEventLogReadOnly(partial)
  const verification = await verifyLog(log, { isDense: true, onProgress }).finally(() => log.close())
  const missingSecrets = secretsOf(config)
    .map(({ path }) => path)
    .filter(path => !existsSync(path))
  const erasures = await erasuresBeside(folders)
  const restored = {
    ...config,
    eventStore: { ...config.eventStore, kind: 'lmdb' as const, folder: partial, isShared: false },
  }
  // Before the log has its name, so that no service starts on what was erased. Without the master secret, no key can be
  // found.
  const erased = missingSecrets.length > 0 ? 0 : await eraseAgain(restored, erasures)
  await rename(partial, target)
  await syncFolder(dirname(target))
  return { verification: verification as Verification, missingSecrets, erasures, erased }
}

/** The files of the stores, and of the secrets that the environment does not give. */
const secretsOf = ({ masterSecret, seals: { key } }: Config) => [
  ...(masterSecret.kind === 'given' ? [] : [{ name: MASTER_SECRET, path: masterSecret.path }]),
  ...(key.kind === 'given' ? [] : [{ name: SEAL_KEY, path: key.path }]),
]

/** Accepts what an interrupted restore left, unless a service has begun a log of its own beside it. */
const expectEmpty = async ({ dataDir, objectStore }: Config, log: string, partial: string) => {
  const others = [...(objectStore.kind === 'disk' ? [objectStore.folder] : []), dataDir]
  const folders = [log, ...(existsSync(partial) ? [] : others)]
  for (const folder of folders) {
    const [found] = await readdir(folder).catch(() => [])
    if (found !== undefined)
      throw new OperatorError(`${folder} is not empty: it holds ${found}. Set DATA_DIR to a new folder.`)
  }
}

/** A full backup, and backups that continue each other. */
const readChain = async (folders: readonly string[]): Promise<NamedBackup[]> => {
  const backups = await Promise.all(folders.map(async folder => ({ folder, ...(await readBackup(folder)) })))
  backups.forEach(({ folder, facts }, index) => {
    const earlier = backups[index - 1]
    if (facts.since === earlier?.facts.position) return
    if (facts.since === undefined) throw new OperatorError(`${folder} is a full backup. Name one, as the first.`)
    const named = earlier ? `, but ${earlier.folder} ends at ${earlier.facts.position}` : ''
    throw new OperatorError(
      `${folder} continues a backup that ends at position ${facts.since}${named}. Name that one before it.`,
    )
  })
  return backups
}

const expectWhole = async ({ folder, sums }: NamedBackup) => {
  const paths = [...sums.keys()]
  const digests = await digestsOf(folder, paths)
  const wrong = paths.filter((path, index) => digests[index] !== sums.get(path))
  if (wrong.length > 0)
    throw new OperatorError(
      `${folder} is damaged. Missing or changed: ${wrong.slice(0, 3).join(', ')}${wrong.length > 3 ? ' …' : ''}.`,
    )
}

/** Tells the objects that were there at the newest backup. A file that was deleted before it must not come back. */
const keptBy = async (backups: readonly NamedBackup[]): Promise<(object: string) => boolean> => {
  const newest = backups.at(-1)
  if (!newest?.sums.has(OBJECT_NAMES)) return () => true
  const kept = new Set((await readFile(join(newest.folder, OBJECT_NAMES), 'utf8')).split('\n'))
  return object => kept.has(object)
}

const copyObjects = async (
  { objectStore }: Config,
  folder: string,
  paths: readonly string[],
  isKept: (object: string) => boolean,
) => {
  if (objectStore.kind !== 'disk') return
  const objects = paths.filter(path => path.startsWith(`${OBJECTS}/`)).map(path => path.slice(OBJECTS.length + 1))
  // Other paths could lead out of the folder.
  await copyFiles(objects.filter(isObjectKey).filter(isKept), join(folder, OBJECTS), objectStore.folder)
}

const copySecret = async (from: string, to: string) => {
  await copyFiles([basename(from)], dirname(from), dirname(to))
  if (basename(from) !== basename(to)) await rename(join(dirname(to), basename(from)), to)
}

const restoreLog = async ([full, ...increments]: readonly NamedBackup[], folder: string) => {
  await copyFiles(['data.mdb'], join((full as NamedBackup).folder, LOG), folder)
  const newest = increments.at(-1) ?? full
  const log = openLmdbEventLog(folder, error => {
    throw new OperatorError(`The log cannot be written: ${error.message}.`)
  })
  try {
    for (const increment of increments)
      await appendAll(openExportedLog(join(increment.folder, EVENTS)).readAll(BEFORE_FIRST), log, {
        atOnce: EMBEDDED_AT_ONCE,
      })
    const last = await lastEvent(log)
    if (last?.position !== newest?.facts.position || last?.id !== newest?.facts.eventId)
      throw new OperatorError(
        `The restored log does not end with the event ${newest?.facts.eventId}, as the backup does.`,
      )
  } finally {
    await log.close()
  }
}
