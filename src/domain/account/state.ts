import { Map as ImmutableMap, OrderedMap } from 'immutable'
import {
  type AccountId,
  IDEMPOTENCY_HOURS,
  type KeyId,
  type RunId,
  type UploadId,
} from '../../../schemas/primitives.ts'

/** An account, folded from its events. It stays bounded: a finished run leaves it once its receiver was told, and a revoked key. */
export interface AccountState {
  /** Undefined until the account is opened. */
  accountId: AccountId | undefined
  tester: boolean
  balanceMicros: number
  activeKeys: ImmutableMap<KeyId, { hash: string }>
  openRuns: ImmutableMap<RunId, OpenRun>
  /** The attempts that were made to tell of a run's end, for each run whose end is still to be told. */
  deliveries: ImmutableMap<RunId, { attempts: number }>
  /** How far each upload is that is not deleted yet. */
  uploads: ImmutableMap<UploadId, UploadStage>
  /** Recent idempotency keys, the oldest first. */
  requests: OrderedMap<string, RememberedRequest>
  /** True once a request was dropped before its time; from then on the view is asked about an unknown key. */
  forgetful: boolean
}

export interface OpenRun {
  chargedMicros: number
  started: boolean
  /** The provider's own id for the work, once it has given one. */
  jobId?: string
  /** Somebody is to be told of its end. */
  webhook?: boolean
  cancelRequested?: boolean
}

/**
 * `granted`: a file may come; `stored`: it is there, and another may still come in its place; `sealed`: it is there for good;
 * `deleting`: its owner wants it gone.
 */
export type UploadStage = 'granted' | 'stored' | 'sealed' | 'deleting'

export interface RememberedRequest {
  runId: RunId
  requestHash: string
  atMs: number
}

/** How long an idempotency key is remembered. */
export const REMEMBER_MS = IDEMPOTENCY_HOURS * 60 * 60 * 1000

/** Idempotency keys held in memory: about 20 MB at the most for one account, and more than one a second for a day. */
export const MAX_REMEMBERED = 100_000

export const initialAccount: AccountState = {
  accountId: undefined,
  tester: false,
  balanceMicros: 0,
  activeKeys: ImmutableMap(),
  openRuns: ImmutableMap(),
  deliveries: ImmutableMap(),
  uploads: ImmutableMap(),
  requests: OrderedMap(),
  forgetful: false,
}
