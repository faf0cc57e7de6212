import { PresignedUpload, PresignRequest } from '../../../schemas/api/upload.ts'
import { MAX_PRESIGNED_MB } from '../../../schemas/primitives.ts'
import { tool } from '../tool.ts'

export const createUpload = tool({
  name: 'create_upload',
  title: 'Send a file',
  description: `Gives an address to send a picture or film of up to ${MAX_PRESIGNED_MB} MB to, so that it can be the image_url of an input. PUT the bytes to presigned_url before expires_at, with the Content-Type that you gave as mime_type and no Authorization; then use cdn_url. A small picture, of up to about 150 KB, can also be the image_url itself, as a data: URL. The file is deleted at will_delete_at. Costs nothing.`,
  input: PresignRequest,
  output: PresignedUpload,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  answer: async (request, { uploads, present, asker }) => {
    const { upload, presignedUrl } = await uploads.presign(asker, request)
    return { body: present.presigned(upload, presignedUrl) }
  },
})
