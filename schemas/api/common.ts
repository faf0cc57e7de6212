import * as events from '../account-events.ts'
import * as primitives from '../primitives.ts'
import * as views from '../views.ts'
import { about } from './about.ts'

// Shapes that the whole system shares, with descriptions for clients.

export const RunId = about(primitives.RunId, 'The ID of a run.', 'run_01m7z4hp40enbs019v3tcadvdx')

export const UploadId = about(primitives.UploadId, 'The ID of an upload.', 'upl_01m7zse8a8fewa24xyrw6y4p0d')

export const RunStatus = about(
  views.RunStatus,
  '`queued`: waiting to start. `processing`: in progress. `completed` and `failed` are final.',
)

export const RunErrorCode = about(
  events.RunErrorCode,
  [
    '`content_rejected`: the provider rejected the content.',
    '`invalid_input`: part of the input turned out to be unusable, such as an image that does not load.',
    '`provider_error`: the provider failed.',
    '`provider_timeout`: the provider took too long.',
    '`model_not_found`: the provider no longer has the model.',
    '`interrupted`: the service stopped during the run.',
    '`cancelled`: the client cancelled the run.',
  ].join(' '),
)

/** The `format` is for clients: the service's own validator checks only the pattern. */
export const Timestamp = {
  ...about(primitives.Timestamp, 'A UTC time in ISO 8601 format, with milliseconds.', '2026-11-21T13:25:49.312Z'),
  format: 'date-time',
}
