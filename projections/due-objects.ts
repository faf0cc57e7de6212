import { accountOf } from '../schemas/events.ts'
import { clockOf } from '../schemas/recorded.ts'
import type { DueRow, ObjectTask, SealUploadTask } from '../schemas/views.ts'
import { projection, type RecordedOf } from './define.ts'
import { byQueue, queues } from './due.ts'

/**
 * How long after its grant expires an upload is inspected: a client that began to send a file in time may take this
 * long, since Node.js ends incomplete requests after five minutes.
 */
const SEAL_AFTER_MS = 6 * 60_000

/** Work that is due in the object store: a part of the view `due` with keys of its own. */
export const dueObjects = projection({
  name: 'due-objects',
  view: 'due',
  version: 4,
  key: event => {
    if (event.type === 'AccountErased' || event.type === 'ErasureCompleted') return accountOf(event)
    if ('uploadId' in event.data) return event.data.uploadId
    if (event.type === 'RunCompleted' && event.data.output.willDeleteAt === undefined) return undefined
    if (event.type === 'RunFailed' && event.data.willDeleteAt === undefined) return undefined
    return `output/${event.data.runId}`
  },
  on: {
    RunCompleted: (_, event) => deleteOutput(event),
    RunFailed: (_, event) => deleteLeft(event),
    RunOutputDeleted: () => undefined,
    AccountErased: (_, event) => ({
      task: 'erase-account',
      queue: `${queues.objects}erasures`,
      dueAt: clockOf(event),
      accountId: accountOf(event),
    }),
    ErasureCompleted: () => undefined,
    UploadGranted: (_, event) => sealUpload(event),
    UploadStored: (row, { data }) =>
      row?.task === 'seal-upload' && data.sealed ? deleteUpload(row, row.willDeleteAt) : row,
    // A file that can still be replaced is deleted when its grant ends.
    UploadDeletionRequested: (row, event) => (row?.task === 'delete-upload' ? { ...row, dueAt: clockOf(event) } : row),
    UploadDeleted: () => undefined,
  },
  indexes: { byQueue },
})

const deleteOutput = (event: RecordedOf<'RunCompleted'>): ObjectTask | undefined => {
  const { runId, output } = event.data
  if (output.willDeleteAt === undefined) return undefined
  return {
    task: 'delete-output',
    queue: outputQueue,
    dueAt: output.willDeleteAt,
    accountId: accountOf(event),
    runId,
    objectKeys: output.artifacts.map(artifact => artifact.objectKey),
  }
}

const deleteLeft = (event: RecordedOf<'RunFailed'>): ObjectTask | undefined => {
  const { runId, willDeleteAt } = event.data
  if (willDeleteAt === undefined) return undefined
  return { task: 'delete-left', queue: outputQueue, dueAt: willDeleteAt, accountId: accountOf(event), runId }
}

const sealUpload = (event: RecordedOf<'UploadGranted'>): DueRow => {
  const { uploadId, expiresAt, willDeleteAt } = event.data
  const dueAt = new Date(Date.parse(expiresAt) + SEAL_AFTER_MS).toISOString()
  return { task: 'seal-upload', queue: uploadQueue, dueAt, accountId: accountOf(event), uploadId, willDeleteAt }
}

const deleteUpload = ({ accountId, uploadId }: SealUploadTask, dueAt: string): ObjectTask => ({
  task: 'delete-upload',
  queue: uploadQueue,
  dueAt,
  accountId,
  uploadId,
})

export const outputQueue = `${queues.objects}outputs`

export const uploadQueue = `${queues.objects}uploads`
