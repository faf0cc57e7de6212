import { pipeline, Transform, type Writable } from 'node:stream'
import { fold } from '../../../projections/projection.ts'
import { uploads } from '../../../projections/uploads.ts'
import type { UploadForm } from '../../../schemas/api/upload.ts'
import { MAX_INLINE_BYTES } from '../../../schemas/primitives.ts'
import type { UploadRow } from '../../../schemas/views.ts'
import { Unavailable } from '../../ports/faults.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import { ApiError } from '../api-error.ts'
import { type Asker, causeOf } from '../asker.ts'
import { Inspection } from './inspection.ts'
import type { UploadGrants } from './upload-grants.ts'
import { faultOf } from './upload-rules.ts'
import type { UploadSettlement } from './upload-settlement.ts'

/**
 * A file on its way through the service, which nobody sees before it is finished. One of `finish` and `discard` is called
 * once.
 */
export interface IncomingUpload {
  readonly body: Writable
  /**
   * Takes the file on, when all of it has come, as what it was declared to be, if it was. Rejects with ApiError or Unavailable;
   * then there is no trace of it.
   */
  finish(asker: Asker, form: UploadForm, declared: string | undefined): Promise<UploadRow>
  discard(): Promise<void>
}

/** How long an upload through the service may take from its grant to its end; by then its file has come in full. */
const GRANT_MS = 60_000

interface Parts {
  objects: ObjectStore
  grants: UploadGrants
  settlement: UploadSettlement
}

/** Begins to take a file in. */
export const receiveUpload = async ({ objects, grants, settlement }: Parts): Promise<IncomingUpload> => {
  const incoming = await objects.receive()
  const inspection = new Inspection()
  const body = new Transform({
    transform: (chunk, _encoding, done) => {
      inspection.update(chunk)
      done(null, chunk)
    },
  })
  const written = new Promise<void>((resolve, reject) => {
    pipeline(body, incoming.body, error => (error ? reject(error) : resolve()))
  })
  // Whoever discards the file has no use for the error, and whoever finishes it meets it there.
  written.catch(() => undefined)

  /** The grant comes first: a file that is there has an owner, whatever happens next. */
  const admit = async (asker: Asker, form: UploadForm, declared: string | undefined) => {
    await written
    const inspected = await inspection.result()
    const { mimeType } = inspected
    const fault = faultOf(inspected, declared)
    if (fault !== undefined || mimeType === undefined) throw new ApiError('unsupported_media_type', fault ?? '')
    const terms = { method: 'inline', form, mimeType, grantMs: GRANT_MS, maxSizeBytes: MAX_INLINE_BYTES } as const
    return { inspected, ...(await grants.give(asker, terms)) }
  }

  return {
    body,
    discard: () => {
      body.destroy()
      return incoming.discard()
    },
    finish: async (asker, form, declared) => {
      const { upload, inspected, events } = await admit(asker, form, declared).catch(async error => {
        await incoming.discard()
        throw error
      })
      await incoming.store(upload.objectKey, upload.mimeType)
      const ours = { ...upload, accountId: asker.accountId }
      const outcome = await settlement.store(ours, inspected, true, causeOf(asker))
      if ('refuse' in outcome) {
        await objects.delete(upload.objectKey)
        throw new Unavailable('the upload took so long that its grant was over')
      }
      return fold(uploads, [...events, ...outcome.accept]) as UploadRow
    },
  }
}
