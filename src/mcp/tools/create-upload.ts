import { PresignedUpload, PresignRequest } from '../../../schemas/api/upload.ts'
import { MAX_PRESIGNED_MB } from '../../../schemas/primitives.ts'
import { unwrap } from '../refusals.ts'
import { tool } from '../tool.ts'

export const createUpload = tool({
  name: 'create_upload',
  title: 'Upload a file',
  description: [
    `Returns a presigned URL for an image or video of up to ${MAX_PRESIGNED_MB} MB,`,
    'for use as the image_url, end_image_url or video_url of an input.',
    'PUT the bytes to presigned_url before expires_at, with mime_type as Content-Type and without an Authorization',
    'header, which S3 servers refuse. Then use cdn_url.',
    'An image of up to about 150 KB can also be the image_url itself, as a data: URL.',
    'The file is deleted at will_delete_at. Costs nothing.',
  ].join(' '),
  input: PresignRequest,
  output: PresignedUpload,
  summary: ({ presigned_url, cdn_url, expires_at }) =>
    `PUT the file to ${presigned_url} before ${expires_at}, then use ${cdn_url} in an input.`,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  answer: async (request, { services, present, caller }) => {
    const { upload, presignedUrl } = unwrap(await services.uploads.presign(caller, request))
    return { body: present.presigned(upload, presignedUrl) }
  },
})
