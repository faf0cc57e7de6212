import { readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { BackupFacts } from '../../../schemas/backup.ts'
import { SEALS_STREAM } from '../../../schemas/events.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { copyLmdbLog } from '../../adapters/event-log/lmdb-copy.ts'
import { openLmdbEventLogReadOnly } from '../../adapters/event-log/lmdb-read-only.ts'
import { makeFolder } from '../../adapters/make-folder.ts'
import { lastEvent, type OnProgress } from '../../audit/read-log.ts'
import { type Verification, verifyLog } from '../../audit/verify/verify.ts'
import type { Config } from '../../boot/config.ts'
import { DAY_MS } from '../../domain/days.ts'
import { canonicalJson } from '../../engine/log/hash-chain.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { copyOf } from '../../services/seals/seals.ts'
import { OperatorError } from '../operator-error.ts'
import { listErasuresOf } from './erasures.ts'
import { EVENTS, FACTS, LOG, MASTER_SECRET, OBJECT_NAMES, OBJECTS, readBackup, SEAL, SEAL_KEY, SUMS } from './facts.ts'
import { copyFiles, digestsOf, filesIn, filesSince, writeDurably } from './files.ts'

/** The folders that the service cannot make again, unlike thumbnails: files of clients, and keys of accounts. */
const KEPT_OBJECTS = ['uploads', 'outputs', 'vault']

/** The clock may have been set back between two backups. To copy a file twice does no harm. */
const CLOCK_MARGIN_MS = DAY_MS

interface BackupOptions {
  /** The folder of the backup that this one continues. */
  since?: string | undefined
  withSecrets: boolean
  onProgress: OnProgress
}

export interface Backup {
  facts: BackupFacts
  verification: Verification
  /** The paths of its files. */
  files: string[]
}

/**
 * Backs up the embedded stores to a new or empty folder, while a service uses them: first the log, then the files, so
 * that every file of the log is there. The digests come last. Throws OperatorError.
 */
export const backUp = async (config: Config, folder: string, options: BackupOptions): Promise<Backup> => {
  const startedAt = new Date().toISOString()
  const source = logFolder(config)
  const earlier = options.since === undefined ? undefined : (await readBackup(options.since)).facts
  await makeEmpty(folder)
  if (!earlier) await copyLmdbLog(source, join(folder, LOG))

  // An incremental backup cannot be verified without the earlier ones. The log that it comes from can.
  const log = openLmdbEventLogReadOnly(earlier ? source : join(folder, LOG))
  try {
    const last = earlier ? await writeEvents(log, earlier, join(folder, EVENTS)) : await lastEvent(log)
    if (!last) throw new OperatorError(`The log in ${source} is empty.`)
    const seal = await newestSeal(log)
    if (seal) await writeDurably(join(folder, SEAL), `${seal.text}\n`)
    const facts: BackupFacts = {
      ...{ format: 1, startedAt, position: last.position, eventId: last.id },
      ...(earlier && { since: earlier.position }),
      ...(seal && { seal: seal.name }),
    }
    await writeDurably(join(folder, FACTS), `${JSON.stringify(facts, undefined, 2)}\n`)
    const verification = (await verifyLog(log, { isDense: true, onProgress: options.onProgress })) as Verification

    await copyObjects(config, folder, earlier)
    if (options.withSecrets) await copySecrets(config, folder)
    await rm(join(folder, LOG, 'lock.mdb'), { force: true })
    await listErasuresOf(log, folder)
    const files = await filesIn(folder)
    await writeSums(folder, files)
    return { facts, verification, files }
  } finally {
    await log.close()
  }
}

export const logFolder = ({ eventStore }: Config): string => {
  if (eventStore.kind === 'lmdb') return eventStore.folder
  throw new OperatorError(
    'The log is in EventStoreDB. Use its own backups: see "Backup and restore" in docs/operations.md.',
  )
}

const makeEmpty = async (folder: string) => {
  makeFolder(folder)
  const [found] = await readdir(folder)
  if (found !== undefined) throw new OperatorError(`${folder} is not empty: it holds ${found}. Name a new folder.`)
}

/** Writes the events after an earlier backup. Resolves to the last event, which may be that of the earlier backup. */
const writeEvents = async (log: ReadableLog, { position, eventId }: BackupFacts, path: string): Promise<RawEvent> => {
  const head = await log.head()
  let last: RawEvent | undefined
  await writeDurably(
    path,
    (async function* () {
      for await (const page of log.readAll(position - 1))
        for (const event of page) {
          if (event.position > head) return
          if (!last && event.id !== eventId) throw foreign()
          if (last) yield `${canonicalJson(event)}\n`
          last = event
        }
    })(),
  )
  if (last) return last
  throw foreign()
}

const foreign = () => new OperatorError('The earlier backup is not of this log, or the log is older than the backup.')

/** The newest seal, as the sinks of seals get it. */
const newestSeal = async (log: ReadableLog) => {
  let newest: ReturnType<typeof copyOf>
  for await (const page of log.readStream(SEALS_STREAM, 0)) for (const event of page) newest = copyOf(event) ?? newest
  return newest
}

/** Files in a bucket stay there. */
const copyObjects = async ({ objectStore }: Config, folder: string, earlier: BackupFacts | undefined) => {
  if (objectStore.kind !== 'disk') return
  if (earlier) {
    const kept = (await filesIn(objectStore.folder)).filter(path => KEPT_OBJECTS.includes(dirname(path)))
    await writeDurably(join(folder, OBJECT_NAMES), kept.map(path => `${path}\n`).join(''))
  }
  const sinceMs = earlier ? Date.parse(earlier.startedAt) - CLOCK_MARGIN_MS : 0
  for (const name of KEPT_OBJECTS) {
    const from = join(objectStore.folder, name)
    await copyFiles(await filesSince(from, sinceMs), from, join(folder, OBJECTS, name))
  }
}

/** Secrets in the environment are not in a file that could be copied. */
const copySecrets = async ({ masterSecret, seals: { key } }: Config, folder: string) => {
  const kept = [
    { source: masterSecret, name: MASTER_SECRET },
    { source: key, name: SEAL_KEY },
  ]
  for (const { source, name } of kept) {
    if (source.kind === 'given') continue
    await copyFiles([basename(source.path)], dirname(source.path), folder)
    await rename(join(folder, basename(source.path)), join(folder, name)).catch(() => undefined)
  }
}

const writeSums = async (folder: string, files: readonly string[]) => {
  const digests = await digestsOf(folder, files)
  const lines = files.map((path, index) => `${digests[index]}  ${path}\n`)
  await writeDurably(join(folder, `${SUMS}.partial`), lines.join(''))
  await rename(join(folder, `${SUMS}.partial`), join(folder, SUMS))
}
