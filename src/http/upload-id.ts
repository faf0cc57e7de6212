import type { UploadId } from '../../schemas/primitives.ts'
import { isUploadId } from '../engine/ids.ts'
import { noSuchUpload } from '../engine/uploads.ts'
import type { Context } from './context.ts'

/** The upload that an address names. Throws upload_not_found for what can be none. */
export const uploadIdOf = (ctx: Context & { params: Record<string, string> }): UploadId => {
  const uploadId = ctx.params['id']
  if (!isUploadId(uploadId)) throw noSuchUpload()
  return uploadId
}
