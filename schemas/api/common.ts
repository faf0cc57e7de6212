import * as events from '../account-events.ts'
import * as primitives from '../primitives.ts'
import * as views from '../views.ts'
import { about } from './about.ts'

// Shapes that are the same in all of the system, with what clients should know of them.

export const RunId = about(primitives.RunId, 'Names a run.', 'run_01m7z4hp40enbs019v3tcadvdx')

export const UploadId = about(primitives.UploadId, 'Names an upload.', 'upl_01m7zse8a8fewa24xyrw6y4p0d')

export const RunStatus = about(
  views.RunStatus,
  '`queued` runs wait for their turn, `processing` ones are worked on, `completed` and `failed` are for good.',
)

export const RunErrorCode = about(
  events.RunErrorCode,
  '`content_rejected`: the provider takes no such content. `invalid_input`: it was found out too late that something cannot be used, such as an image that does not load. `provider_error`, `provider_timeout`: the provider failed, or took too long. `model_not_found`: it has the model no longer. `interrupted`: the service was stopped. `cancelled`: you wanted it.',
)

/** The service itself checks by the pattern alone: its validator knows no formats. */
export const Timestamp = {
  ...about(primitives.Timestamp, 'A time in UTC, to the millisecond.', '2026-11-21T13:25:49.312Z'),
  format: 'date-time',
}
