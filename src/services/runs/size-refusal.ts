import type { RunRequest } from '../../../schemas/api/run.ts'
import { MAX_INPUT_BYTES, MAX_METADATA_BYTES } from '../../../schemas/primitives.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Refused } from '../answer.ts'

/** Refuses a request with a part that is too large. Comes before anything that is slow for large values. */
export const sizeRefusal = ({ input, metadata = {} }: RunRequest): Refused | undefined =>
  partRefusal('/metadata', metadata, MAX_METADATA_BYTES) ?? partRefusal('/input', input, MAX_INPUT_BYTES)

const partRefusal = (path: string, part: object, limitBytes: number): Refused | undefined =>
  Buffer.byteLength(JSON.stringify(part)) > limitBytes ? refuse('part_too_large', { path, limitBytes }) : undefined
