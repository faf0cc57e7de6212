import { join } from 'node:path'
import type { Test } from 'tap'
import type { AccountEvent } from '../../schemas/account-events.ts'
import { accountStream } from '../../schemas/events.ts'
import { openDiskObjectStore } from '../../src/adapters/object-store/disk.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import type { ObjectStore } from '../../src/ports/object-store.ts'
import { ObjectsReactor } from '../../src/reactors/upkeep/objects.ts'
import type { AccountCaller, Caller } from '../../src/services/caller.ts'
import { OutputKeys } from '../../src/services/files/output-keys.ts'
import { UploadFinder } from '../../src/services/uploads/upload-finder.ts'
import { UploadGrants } from '../../src/services/uploads/upload-grants.ts'
import { UploadSettlement } from '../../src/services/uploads/upload-settlement.ts'
import { Uploads } from '../../src/services/uploads/uploads.ts'
import { caughtUp } from './caught-up.ts'
import { collect } from './collect.ts'
import { ManualClock } from './manual-clock.ts'
import { openAccount, openFolder } from './service.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { until } from './until.ts'

/** When an upload that was never sent is checked: 15 minutes to start it, and six to finish. */
export const SEAL_AFTER_MS = 21 * 60_000

export const PNG_REQUEST = { filename: 'beach.png', mime_type: 'image/png' }

/** The objects in a folder, without a service. */
export const openObjects = (folder: string): Promise<ObjectStore> =>
  openDiskObjectStore({
    folder: join(folder, 'objects'),
    putSecret: 'secret',
    putUrl: () => 'http://localhost/cdn',
  })

/** Accepts and manages uploads on the stores of a folder, without a service. */
export const openUploads = async (
  t: Test,
  { folder, clock = new ManualClock() }: { folder?: string; clock?: ManualClock } = {},
) => {
  const place = folder ?? (await temporaryFolder(t))
  const core = await openFolder(place, { clock })
  t.teardown(() => core.close())
  const objects = await openObjects(place)
  const outputKeys = new OutputKeys(core.masterSecret)
  const settlement = new UploadSettlement(core.accounts, objects)
  const { uploadGrantMs, retention } = core.config
  const grants = new UploadGrants({
    ...core,
    retentionMs: retention.uploadsMs,
    quotaBytes: core.config.uploadQuotaBytes,
  })
  const finder = new UploadFinder({ ...core, settlement })
  const uploads = new Uploads({ ...core, objects, finder, settlement, grants, grantMs: uploadGrantMs })
  const openOwner = async (): Promise<Extract<Caller, { kind: 'key' }>> => {
    const { accountId, keyId } = await openAccount({ core, url: 'http://localhost' })
    return { kind: 'key', accountId, keyId, scope: 'full', requestId: crypto.randomUUID() }
  }

  /** Runs due work until a condition holds, like one process of several, with replaceable parts. */
  const work = async (holds: () => boolean | Promise<boolean>, others: Partial<ObjectsDependencies> = {}) => {
    const dependencies = { ...core, objects, outputKeys, finder, settlement, ...others }
    const reactor = new ObjectsReactor(dependencies)
    await caughtUp(core)
    reactor.start(core.progress.changes)
    await until('the due work is done', holds)
    await reactor.stop()
  }

  return {
    folder: place,
    core,
    clock,
    objects,
    outputKeys,
    settlement,
    uploads,
    owner: await openOwner(),
    openOwner,
    work,
  }
}

type ObjectsDependencies = ConstructorParameters<typeof ObjectsReactor>[0]

export type UploadEvent = Extract<AccountEvent, { type: `Upload${string}` }>

/** The upload events in an account's log. */
export const uploadEvents = async (
  log: EventLog,
  { accountId }: Pick<AccountCaller, 'accountId'>,
): Promise<UploadEvent[]> => {
  const events = (await collect(log.readStream(accountStream(accountId), 0))) as unknown as AccountEvent[]
  const ofUploads = events.filter((event): event is UploadEvent => event.type.startsWith('Upload'))
  return ofUploads.map(({ type, data }) => ({ type, data }) as UploadEvent)
}

/** The final state of each upload, without the grants. */
export const fates = async (
  log: EventLog,
  owner: Pick<AccountCaller, 'accountId'>,
): Promise<Record<string, string[]>> => {
  const states: Record<string, string[]> = {}
  for (const { type, data } of await uploadEvents(log, owner)) {
    states[data.uploadId] ??= []
    if (type === 'UploadStored') states[data.uploadId]?.push(data.sealed ? 'sealed' : 'stored')
    if (type === 'UploadDeletionRequested') states[data.uploadId]?.push('deleting')
    if (type === 'UploadDeleted') states[data.uploadId]?.push(data.reason)
  }
  return states
}
