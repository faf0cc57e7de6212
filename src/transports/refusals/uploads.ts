import { MAX_PRESIGNED_MB } from '../../../schemas/primitives.ts'
import type { UploadRefusals } from '../../domain/refusal.ts'
import { acceptedTypes } from '../../services/uploads/upload-rules.ts'
import type { RefusalTable } from './refusal-table.ts'

const REQUEST_NEW_URL = 'Request a new URL with POST /v1/uploads/presigned, and use it unchanged.'

export const uploads = {
  upload_exists: { api: 'invalid_request', message: () => 'The upload already exists.' },
  upload_not_found: { api: 'upload_not_found', message: () => 'The upload does not exist or was deleted.' },
  upload_not_sent: {
    api: 'upload_not_found',
    message: () => 'No file has arrived yet, or it was refused and deleted. Send one with PUT to the presigned_url.',
  },
  upload_already_stored: { api: 'invalid_request', message: () => 'The file of this upload is already stored.' },
  too_many_uploads: {
    api: 'rate_limited',
    message: ({ limit }) =>
      `The account already has ${limit} uploads, which is the limit. Delete some or wait until they expire.`,
  },
  upload_quota_exceeded: {
    api: 'rate_limited',
    message: ({ quotaBytes }) =>
      [
        `The uploads of the account would exceed its quota of ${inUnits(quotaBytes)}.`,
        'Delete some or wait until they expire.',
        `A presigned URL counts as ${MAX_PRESIGNED_MB} MB until its file is final or the URL expires;`,
        'deleting its upload does not free the space earlier.',
      ].join(' '),
  },
  too_many_arriving_uploads: {
    api: 'rate_limited',
    message: ({ limit }) =>
      `${limit} uploads of the account are arriving, which is the limit. Send this one when another has arrived.`,
  },
  upload_too_large: {
    api: 'payload_too_large',
    message: ({ limitBytes }) => `A file may be at most ${limitBytes} bytes.`,
    details: ({ limitBytes }) => ({ errors: [{ path: '/size_bytes', message: `must be at most ${limitBytes}` }] }),
  },
  declared_type_not_accepted: {
    api: 'unsupported_media_type',
    message: ({ declared }) =>
      `The declared type ${JSON.stringify(declared)} is not accepted. Accepted types: ${acceptedTypes.join(', ')}.`,
  },
  declared_type_unspecific: {
    api: 'unsupported_media_type',
    message: ({ declared }) => `${declared} does not identify the type of the file. Declare its specific type.`,
  },

  put_address_invalid: {
    api: 'upload_not_found',
    message: () => `This service did not issue the URL. ${REQUEST_NEW_URL}`,
  },
  put_address_expired: { api: 'upload_not_found', message: () => `The URL has expired. ${REQUEST_NEW_URL}` },
  put_address_withdrawn: {
    api: 'upload_not_found',
    message: () => `The upload was deleted, or its API key was revoked. ${REQUEST_NEW_URL}`,
  },
  too_many_puts: {
    api: 'rate_limited',
    message: ({ limit }) =>
      `${limit} files are arriving at this URL, which is the limit. Send this one when another has ended.`,
  },
  put_too_large: {
    api: 'payload_too_large',
    message: ({ limitBytes }) => `The URL accepts at most ${limitBytes} bytes.`,
  },
  put_type_mismatch: {
    api: 'unsupported_media_type',
    message: ({ sentAs, granted }) => `The URL accepts ${granted}, but ${sentAs} was sent.`,
  },
  put_interrupted: { api: 'invalid_request', message: () => 'The upload was interrupted.' },
} satisfies RefusalTable<UploadRefusals>

/** A number of bytes as people write it. As in UPLOAD_QUOTA, 1 GB is 2³⁰ bytes. */
const inUnits = (bytes: number): string =>
  bytes % 2 ** 30 === 0 ? `${bytes / 2 ** 30} GB` : `${Math.round(bytes / 2 ** 20)} MB`
