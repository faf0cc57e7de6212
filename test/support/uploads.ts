import { join } from 'node:path'
import type { Test } from 'tap'
import type { AccountEvent } from '../../schemas/account-events.ts'
import { accountStream } from '../../schemas/recorded.ts'
import { openDiskObjectStore } from '../../src/adapters/object-store/disk.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import type { ObjectStore } from '../../src/ports/object-store.ts'
import { ObjectsReactor } from '../../src/reactors/objects.ts'
import type { Asker } from '../../src/services/asker.ts'
import { UploadGrants } from '../../src/services/uploads/upload-grants.ts'
import { UploadSettlement } from '../../src/services/uploads/upload-settlement.ts'
import { Uploads } from '../../src/services/uploads/uploads.ts'
import { caughtUp } from './caught-up.ts'
import { collect } from './collect.ts'
import { ManualClock } from './manual-clock.ts'
import { openAccount, openFolder } from './service.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** So long after its grant an upload that was never sent is looked at: 15 minutes to begin, and six to end. */
export const SEAL_AFTER_MS = 21 * 60_000

export const PNG_REQUEST = { filename: 'beach.png', mime_type: 'image/png' }

/** Where a folder's objects are, without a service. */
export const openObjects = (folder: string): Promise<ObjectStore> =>
  openDiskObjectStore({
    folder: join(folder, 'objects'),
    putSecret: 'secret',
    putUrl: () => 'http://localhost/cdn',
  })

/** What takes files from clients and looks after them, on the stores of a folder and without a service. */
export const openUploads = async (
  t: Test,
  { folder, clock = new ManualClock() }: { folder?: string; clock?: ManualClock } = {},
) => {
  const place = folder ?? (await temporaryFolder(t))
  const core = await openFolder(place, { clock })
  t.teardown(() => core.close())
  const objects = await openObjects(place)
  const settlement = new UploadSettlement(core.accounts, objects)
  const { uploadGrantMs, retention } = core.config
  const grants = new UploadGrants({ ...core, retentionMs: retention.uploadsMs })
  const uploads = new Uploads({ ...core, objects, settlement, grants, grantMs: uploadGrantMs })
  const openAsker = async (): Promise<Asker> => {
    const { accountId, keyId } = await openAccount({ core, url: 'http://localhost' })
    return { accountId, keyId, requestId: crypto.randomUUID() }
  }

  /** Looks after what is due until that holds, like one process of many, in which some parts may be others. */
  const work = async (holds: () => boolean | Promise<boolean>, others: Partial<ObjectsParts> = {}) => {
    const parts = { ...core, objects, settlement, ...others }
    const reactor = new ObjectsReactor(parts)
    await caughtUp(core)
    reactor.start(core.progress.changes)
    while (!(await holds())) await new Promise(setImmediate)
    await reactor.stop()
  }

  return { folder: place, core, clock, objects, settlement, uploads, asker: await openAsker(), openAsker, work }
}

type ObjectsParts = ConstructorParameters<typeof ObjectsReactor>[0]

export type UploadEvent = Extract<AccountEvent, { type: `Upload${string}` }>

/** What an account's log says of its uploads, one after the other. */
export const uploadEvents = async (log: EventLog, { accountId }: Pick<Asker, 'accountId'>): Promise<UploadEvent[]> => {
  const events = (await collect(log.readStream(accountStream(accountId), 0))) as unknown as AccountEvent[]
  const ofUploads = events.filter((event): event is UploadEvent => event.type.startsWith('Upload'))
  return ofUploads.map(({ type, data }) => ({ type, data }) as UploadEvent)
}

/** The same in short, without the grants: what has become of each upload. */
export const fates = async (log: EventLog, asker: Pick<Asker, 'accountId'>): Promise<Record<string, string[]>> => {
  const told: Record<string, string[]> = {}
  for (const { type, data } of await uploadEvents(log, asker)) {
    told[data.uploadId] ??= []
    if (type === 'UploadStored') told[data.uploadId]?.push(data.sealed ? 'sealed' : 'stored')
    if (type === 'UploadDeletionRequested') told[data.uploadId]?.push('deleting')
    if (type === 'UploadDeleted') told[data.uploadId]?.push(data.reason)
  }
  return told
}
