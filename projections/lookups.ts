import { isAcceptance } from '../schemas/account-events.ts'
import { accountOf } from '../schemas/events.ts'
import type { RunId } from '../schemas/primitives.ts'
import type { LookupRow } from '../schemas/views.ts'
import { projection, type RecordedOf } from './define.ts'

// Lead from what people find in a log or on a bill to the run. A client may repeat the ID of a request, so the key ends
// with the run.

/** The run that a request has created. */
export const requestLookups = projection({
  name: 'requestLookups',
  view: 'lookups',
  version: 1,
  key: event => {
    const { requestId } = event.metadata
    return isAcceptance(event) && requestId !== undefined ? requestLookup(requestId) + event.data.runId : undefined
  },
  on: { RunQueued: (_, event) => rowOf(event), RunStarted: (_, event) => rowOf(event) },
})

/** The run of a provider's job. */
export const jobLookups = projection({
  name: 'jobLookups',
  view: 'lookups',
  version: 1,
  key: event => jobLookup(event.data.jobId) + event.data.runId,
  on: { RunSubmitted: (_, event) => ({ ...rowOf(event), jobId: event.data.jobId }) },
})

export const requestLookup = (requestId: string) => `request/${requestId}/`

/**
 * Jobs are known by the last parts of their IDs, which may have any characters. Several IDs may have the same place, so
 * the row holds the whole ID.
 */
export const jobLookup = (jobId: string) =>
  `job/${lastPart(jobId)
    .replaceAll(/[^\w.-]/g, '_')
    .slice(0, MAX_PLACE)}/`

/** Places have a limited length. */
const MAX_PLACE = 200

/** What a provider's own pages show of an ID such as `models/veo/operations/x`. */
export const lastPart = (jobId: string): string => jobId.split('/').at(-1) ?? ''

const rowOf = (event: RecordedOf<'RunQueued' | 'RunStarted' | 'RunSubmitted'>): LookupRow => ({
  accountId: accountOf(event),
  runId: event.data.runId as RunId,
})
