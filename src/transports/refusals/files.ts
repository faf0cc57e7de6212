import { type FilePlace, fileKindAt } from '../../domain/catalog/inputs.ts'
import type { FileRefusal, FileRefusals } from '../../domain/refusal.ts'
import { acceptedOf, acceptedTypes } from '../../services/uploads/upload-rules.ts'
import type { RefusalTable } from './refusal-table.ts'
import { uploads } from './uploads.ts'

export const files = {
  file_empty: { api: 'unsupported_media_type', message: () => 'The file is empty.' },
  file_too_large: {
    api: 'payload_too_large',
    message: ({ sizeBytes, limitBytes }) => `The file has ${sizeBytes} bytes; the limit is ${limitBytes}.`,
  },
  file_type_not_accepted: {
    api: 'unsupported_media_type',
    message: facts => typeNotAccepted(facts, acceptedTypes),
  },
  file_type_mismatch: {
    api: 'unsupported_media_type',
    message: ({ mimeType, declared }) => `The file is ${mimeType}, but was declared as ${declared}.`,
  },
  file_sent_as_other_type: {
    api: 'unsupported_media_type',
    message: ({ sentAs, declared }) =>
      `The file was sent as ${sentAs}, but was declared as ${declared}. Send it with Content-Type: ${declared}.`,
  },
  file_truncated: {
    api: 'unsupported_media_type',
    message: ({ mimeType }) => `The file is ${mimeType}, but its end is missing. It may be truncated.`,
  },
  file_ambiguous: {
    api: 'unsupported_media_type',
    message: ({ mimeType, alsoIs }) => `The file is both ${mimeType} and ${alsoIs}.`,
  },
  file_of_other_kind: {
    api: 'invalid_input',
    message: ({ kind, mimeType }) => `The file is ${mimeType}, not ${kind === 'image' ? 'an image' : 'a video'}.`,
  },
  file_not_found: { api: 'invalid_input', message: () => 'The file does not exist or was deleted.' },
  data_url_unusable: {
    api: 'invalid_input',
    message: ({ kind }) =>
      kind === 'image'
        ? 'The data: URL holds no image. Write it as data:image/png;base64,… with the bytes in base64.'
        : 'A video cannot be a data: URL. Upload it, and send the URL of the upload.',
  },
  file_over_limit: {
    api: 'invalid_input',
    message: ({ limitBytes }) => `The file is larger than ${limitBytes} bytes.`,
  },
} satisfies RefusalTable<FileRefusals>

/** Why a file cannot be used for a parameter. Uploads may be images or videos. */
export const fileFault = (parameter: FilePlace, reason: FileRefusal): string =>
  reason.code === 'file_type_not_accepted'
    ? typeNotAccepted(reason, acceptedOf(fileKindAt(parameter)))
    : // The compiler does not see that the code selects the entry for these facts.
      ({ ...uploads, ...files }[reason.code].message as (facts: FileRefusal) => string)(reason)

const typeNotAccepted = ({ mimeType = 'of unknown type' }: { mimeType?: string }, accepted: readonly string[]) =>
  `The file is ${mimeType}, which is not accepted. Accepted types: ${accepted.join(', ')}.`
