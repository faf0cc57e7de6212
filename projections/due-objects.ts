import { accountOf } from '../schemas/recorded.ts'
import type { DueRow, ObjectTask, SealUploadTask } from '../schemas/views.ts'
import { byQueue, queues } from './due.ts'
import type { Projection, RecordedOf } from './projection.ts'

/**
 * How long after its grant's end an upload is looked at: whoever began to send a file in time may take so long. Node.js
 * ends a request that is not whole after five minutes.
 */
const SEAL_AFTER_MS = 6 * 60_000

/** What is owed to the object store: a part of the view `due` with keys of its own. */
export const dueObjects: Projection<'due'> = {
  view: 'due',
  keys: event => {
    switch (event.type) {
      case 'RunCompleted':
        return event.data.output.willDeleteAt === undefined ? [] : [outputKey(event.data.runId)]
      case 'RunOutputDeleted':
        return [outputKey(event.data.runId)]
      case 'UploadGranted':
      case 'UploadStored':
      case 'UploadDeletionRequested':
      case 'UploadDeleted':
        return [event.data.uploadId]
      default:
        return []
    }
  },
  evolve: (row, event) => {
    switch (event.type) {
      case 'RunCompleted':
        return deleteOutput(event)
      case 'UploadGranted':
        return seal(event)
      case 'UploadStored':
        return row?.task === 'seal-upload' && event.data.sealed ? deleteUpload(row, row.willDeleteAt) : row
      case 'UploadDeletionRequested':
        // As long as another file could still come in its place, the end of the grant is waited for.
        return row?.task === 'delete-upload' ? { ...row, dueAt: event.metadata.at } : row
      case 'RunOutputDeleted':
      case 'UploadDeleted':
        return undefined
      default:
        return row
    }
  },
  indexes: { byQueue },
}

const outputKey = (runId: string) => `output/${runId}`

const deleteOutput = (event: RecordedOf<'RunCompleted'>): ObjectTask | undefined => {
  const accountId = accountOf(event)
  const { runId, output } = event.data
  if (!accountId || output.willDeleteAt === undefined) return undefined
  return {
    task: 'delete-output',
    queue: `${queues.objects}outputs`,
    dueAt: output.willDeleteAt,
    accountId,
    runId,
    objectKeys: output.artifacts.map(artifact => artifact.objectKey),
  }
}

const seal = (event: RecordedOf<'UploadGranted'>): DueRow | undefined => {
  const accountId = accountOf(event)
  const { uploadId, expiresAt, willDeleteAt } = event.data
  const dueAt = new Date(Date.parse(expiresAt) + SEAL_AFTER_MS).toISOString()
  return accountId && { task: 'seal-upload', queue: uploadQueue, dueAt, accountId, uploadId, willDeleteAt }
}

const deleteUpload = ({ accountId, uploadId }: SealUploadTask, dueAt: string): ObjectTask => ({
  task: 'delete-upload',
  queue: uploadQueue,
  dueAt,
  accountId,
  uploadId,
})

const uploadQueue = `${queues.objects}uploads`
