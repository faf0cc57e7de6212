import type {
  AccountEvent,
  AccountLimits,
  BudgetPeriod,
  BudgetUse,
  DebitFacts,
  GrantKind,
  KeyLimits,
  ProviderCost,
  RunErrorCode,
  RunOutput,
  RunQueued,
  UploadDeleted,
  UploadGranted,
  UploadStored,
} from '../../schemas/account-events.ts'
import type { KeyScope } from '../../schemas/actor.ts'
import type { Receipt } from '../../schemas/catalog.ts'
import { accountStream, type RecordedEvent } from '../../schemas/events.ts'
import type { AccountId, KeyId, RunId, SessionId, UploadId, WebhookTestId } from '../../schemas/primitives.ts'
import type { AccountCommand, LimitChanges } from '../../src/domain/account/commands.ts'
import { toMicros } from '../../src/domain/money.ts'
import { THEN_MS } from './given.ts'

// Numbered ids, so that tests can say "run 2".
const suffix = (number: number) => String(number).padStart(26, '0')
export const accountId = (number = 1): AccountId => `acct_${suffix(number)}`
export const sessionId = (number = 1): SessionId => `sess_${suffix(number)}`
export const keyId = (number = 1): KeyId => `key_${suffix(number)}`
export const runId = (number = 1): RunId => `run_${suffix(number)}`
export const uploadId = (number = 1): UploadId => `upl_${suffix(number)}`
export const testId = (number = 1): WebhookTestId => `wht_${suffix(number)}`

/** The key of a numbered file. */
export const objectKey = (number = 1, folder = 'uploads') => `${folder}/${String(number).padStart(32, '0')}.png`

/** A well-formed digest. */
export const digest = (character: string): string => character.repeat(64)

/** Two lines have an amount, so that no line alone is the price. */
export const receipt = (credits = 10): Receipt => {
  const totalMicros = toMicros(credits)
  const surchargeMicros = Math.floor(totalMicros / 5)
  const surcharge = { usdMicros: surchargeMicros, amountMicros: surchargeMicros }
  return {
    catalogRevision: 0,
    model: 'nano-banana-2',
    endpoint: 'nano-banana-2-t2i',
    lines: [
      { kind: 'base', amountMicros: totalMicros - surchargeMicros },
      { kind: 'surcharge', parameter: 'enable_web_search', equals: true, ...surcharge },
    ],
    totalMicros,
    usdPerCreditMicros: toMicros(1),
  }
}

/** What a refund repeats of a debit with that receipt. */
export const debitFacts: DebitFacts = { model: 'nano-banana-2', endpoint: 'nano-banana-2-t2i' }

/** A client's webhook URL. */
export const hook = 'https://example.com/hook'

const fault = { status: 503, reason: 'The receiver answered with 503.' }
const output = { artifacts: [], text: 'done' }

/** An output that is deleted later. */
export const keptOutput = (willDeleteAt: string, ...numbers: number[]): RunOutput => ({
  artifacts: numbers.map(number => ({
    objectKey: objectKey(number, 'outputs'),
    mimeType: 'image/png',
    sizeBytes: 3,
    sha256: digest('d'),
  })),
  willDeleteAt,
})

const failure = (code: RunErrorCode = 'provider_error') => ({ code, message: 'It did not work.' })

/** The varying parts of a run. `key` is the idempotency key, and `hash` the hash of its request. */
export interface RunOptions {
  run?: number
  credits?: number
  key?: string | undefined
  hash?: string
  metadata?: Record<string, unknown>
  webhook?: boolean
  mode?: 'sync' | 'async'
}

const details = ({ run = 1, key, hash = digest('a'), metadata, webhook, mode = 'sync' }: RunOptions): RunQueued => ({
  runId: runId(run),
  model: 'nano-banana-2',
  endpoint: 'nano-banana-2-t2i',
  mode,
  timeoutMs: 120_000,
  input: { prompt: 'a lighthouse at dusk' },
  ...(metadata && { metadata }),
  ...(webhook && { webhookUrl: hook }),
  ...(key !== undefined && { idempotency: { key, requestHash: hash } }),
})

/** The varying parts of an upload. */
export interface UploadOptions {
  upload?: number
  expiresAt?: string
  willDeleteAt?: string
}

const upload = ({
  upload: number = 1,
  expiresAt = '2026-01-01T00:15:00.000Z',
  willDeleteAt = '2026-01-08T00:00:00.000Z',
}: UploadOptions): UploadGranted => ({
  uploadId: uploadId(number),
  method: 'presigned',
  objectKey: objectKey(number),
  filename: 'beach.png',
  folderPath: 'photos/2026',
  mimeType: 'image/png',
  maxSizeBytes: 1000,
  expiresAt,
  willDeleteAt,
})

/** `hash` distinguishes files that were sent. */
const file = (number: number, { sealed = false, hash = digest('e') }: FileOptions): UploadStored => ({
  uploadId: uploadId(number),
  sizeBytes: 3,
  sha256: hash,
  sealed,
})

interface FileOptions {
  askedWith?: number
  sealed?: boolean
  hash?: string
}

/** The time of events for projections. */
export const RECORDED_AT = '2026-01-01T00:03:00.000Z'

/** A recorded event with the fields that projections read. */
export const recorded = (event: AccountEvent, stream = accountStream(accountId())) =>
  ({ stream, metadata: { at: RECORDED_AT }, ...event }) as unknown as RecordedEvent

// Commands. Amounts are credits.

export const openAccount = ({ account = 1, welcome = 100, tester = false } = {}) =>
  ({
    type: 'OpenAccount',
    accountId: accountId(account),
    identity: { kind: 'email', address: 'owner@example.com' } as const,
    tester,
    welcomeMicros: toMicros(welcome),
  }) satisfies AccountCommand

export const suspendAccount = (reason = 'unpaid') => ({ type: 'SuspendAccount', reason }) satisfies AccountCommand

export const closeAccount = (reason = 'left') => ({ type: 'CloseAccount', reason }) satisfies AccountCommand

export const eraseAccount = (reason = 'asked') => ({ type: 'EraseAccount', reason }) satisfies AccountCommand

export const resumeAccount = (reason = 'paid') => ({ type: 'ResumeAccount', reason }) satisfies AccountCommand

export const setTester = (tester = true) => ({ type: 'SetTester', tester }) satisfies AccountCommand

export const setLimits = (limits: LimitChanges) => ({ type: 'SetLimits', limits }) satisfies AccountCommand

export const setRetention = (days?: 0) => ({ type: 'SetRetention', days, reason: 'agreed' }) satisfies AccountCommand

let references = 0

/** A grant that differs from all others, unless it is given a reference. */
export const grantCredits = (credits: number, reference = `gift-${++references}`) =>
  ({
    type: 'GrantCredits',
    amountMicros: toMicros(credits),
    kind: 'courtesy',
    reference,
    reason: 'a gift',
  }) satisfies AccountCommand

export const withdrawCredits = (credits: number, reference: string) =>
  ({ ...grantCredits(credits, reference), type: 'WithdrawCredits', kind: 'correction' }) satisfies AccountCommand

export const createKey = (key = 1, scope: KeyScope = 'full', limits: KeyLimits & TestMode = {}) =>
  ({
    type: 'CreateApiKey',
    key: { keyId: keyId(key), name: 'laptop', hash: digest('b'), lastFour: 'beef', scope, ...limits },
  }) satisfies AccountCommand

export const useKey = (key: number) => ({ type: 'UseApiKey', keyId: keyId(key) }) satisfies AccountCommand

export const revokeKey = (key = 1) => ({ type: 'RevokeApiKey', keyId: keyId(key) }) satisfies AccountCommand

export const queueRun = ({
  startNow = false,
  askedWith,
  label,
  maxCredits,
  budget,
  ...options
}: RunOptions & {
  startNow?: boolean
  askedWith?: number
  label?: string
  maxCredits?: number
  budget?: string
} = {}) =>
  ({
    type: 'QueueRun',
    ...askedBy(askedWith),
    run: details(options),
    receipt: receipt(options.credits),
    ...(label !== undefined && { label }),
    ...(budget !== undefined && { budget }),
    ...(maxCredits !== undefined && { maxMicros: toMicros(maxCredits) }),
    ...(startNow && { startAt: upstream }),
  }) satisfies AccountCommand

/** The upstream of every run that starts. */
export const upstream = { provider: 'sandbox', model: 'sandbox' }

export const startRun = (run = 1) => ({ type: 'StartRun', runId: runId(run), upstream }) satisfies AccountCommand

/** The key of a command that a client sends. */
const askedBy = (askedWith: number | undefined) => askedWith !== undefined && { keyId: keyId(askedWith) }

export const submitRun = (run = 1) =>
  ({ type: 'SubmitRun', runId: runId(run), jobId: `job-${run}`, upstream }) satisfies AccountCommand

export const completeRun = (run = 1, made: RunOutput = output) =>
  ({ type: 'CompleteRun', runId: runId(run), output: made }) satisfies AccountCommand

export const recordOutputDeletion = (run = 1) =>
  ({ type: 'RecordOutputDeletion', runId: runId(run) }) satisfies AccountCommand

export const archiveRuns = (...runs: number[]) =>
  ({
    type: 'ArchiveRuns',
    runs: runs.map(run => ({ runId: runId(run), revisions: [0] })),
  }) satisfies AccountCommand

export const cancelRun = (run = 1, askedWith?: number) =>
  ({ type: 'CancelRun', ...askedBy(askedWith), runId: runId(run) }) satisfies AccountCommand

export const recordDelivered = (attempt = 1, run = 1) =>
  ({
    type: 'RecordDelivery',
    runId: runId(run),
    attempt,
    outcome: { delivered: true, status: 200 },
  }) satisfies AccountCommand

/** Without a next attempt, it is the last one. */
export const recordUndelivered = (attempt = 1, { run = 1, next }: { run?: number; next?: string } = {}) =>
  ({
    type: 'RecordDelivery',
    runId: runId(run),
    attempt,
    outcome: { delivered: false, ...fault, ...(next !== undefined && { nextAttemptAt: next }) },
  }) satisfies AccountCommand

export const redeliver = (run = 1) =>
  ({ type: 'RedeliverWebhook', runId: runId(run), url: hook }) satisfies AccountCommand

/** The same at the request of the account's owner. */
export const resend = ({ run = 1, askedWith }: { run?: number; askedWith?: number } = {}) =>
  ({ ...redeliver(run), ...askedBy(askedWith), isByOwner: true }) satisfies AccountCommand

export const rotateSecret = (askedWith?: number) =>
  ({ type: 'RotateWebhookSecret', ...askedBy(askedWith) }) satisfies AccountCommand

export const requestTest = (test = 1, askedWith?: number) =>
  ({
    type: 'RequestWebhookTest',
    ...askedBy(askedWith),
    testId: testId(test),
    url: hook,
  }) satisfies AccountCommand

export const recordTest = (test = 1) =>
  ({ type: 'RecordWebhookTest', result: { testId: testId(test), status: 204, latencyMs: 87 } }) satisfies AccountCommand

export const failRun = (run = 1, code?: RunErrorCode, willDeleteAt?: string) =>
  ({ type: 'FailRun', runId: runId(run), error: failure(code), willDeleteAt }) satisfies AccountCommand

export const grantUpload = (options: UploadOptions = {}, askedWith = 1, quotaBytes = 1e9) =>
  ({
    type: 'GrantUpload',
    keyId: keyId(askedWith),
    upload: upload(options),
    quotaBytes,
  }) satisfies AccountCommand

export const storeUpload = (number = 1, options: FileOptions = {}) =>
  ({ type: 'StoreUpload', ...askedBy(options.askedWith), upload: file(number, options) }) satisfies AccountCommand

export const requestUploadDeletion = (number = 1, askedWith?: number) =>
  ({ type: 'RequestUploadDeletion', ...askedBy(askedWith), uploadId: uploadId(number) }) satisfies AccountCommand

export const recordUploadDeletion = (number = 1, reason: UploadDeleted['reason'] = 'expired') =>
  ({ type: 'RecordUploadDeletion', upload: { uploadId: uploadId(number), reason } }) satisfies AccountCommand

// Events. `after` is the balance after the event, in credits.

export const opened = ({ account = 1, tester = false } = {}): AccountEvent => ({
  type: 'AccountOpened',
  data: { accountId: accountId(account), email: 'owner@example.com', tester },
})

export const accountSuspended = (reason = 'unpaid'): AccountEvent => ({ type: 'AccountSuspended', data: { reason } })

export const accountErased = (reason = 'asked'): AccountEvent => ({ type: 'AccountErased', data: { reason } })

export const accountResumed = (reason = 'paid'): AccountEvent => ({ type: 'AccountResumed', data: { reason } })

export const testerSet = (tester = true): AccountEvent => ({ type: 'TesterSet', data: { tester } })

export const retentionSet = (days?: 0): AccountEvent => ({
  type: 'RetentionSet',
  data: { ...(days === 0 && { days }), reason: 'agreed' },
})

export const limitsSet = (data: AccountLimits): AccountEvent => ({ type: 'LimitsSet', data })

interface Grant {
  after?: number
  kind?: GrantKind
  reference?: string
  reason?: string
  /** Missing from grants of old logs. */
  lot?: number
  expiresAt?: string
}

const grant = (
  credits: number,
  { after = credits, kind = 'courtesy', reference = 'gift', reason = 'a gift', ...lot }: Grant = {},
) => ({ amountMicros: toMicros(credits), balanceAfterMicros: toMicros(after), kind, reference, reason, ...lot })

export const granted = (credits: number, options?: Grant): AccountEvent => ({
  type: 'CreditsGranted',
  data: grant(credits, options),
})

/** The welcome credits, as an account is opened with them. */
export const welcomed = (credits: number): AccountEvent =>
  granted(credits, { kind: 'welcome', reference: 'welcome', reason: 'welcome', lot: 1 })

export const withdrawn = (credits: number, options: Grant & { after: number }): AccountEvent => ({
  type: 'CreditsWithdrawn',
  data: grant(credits, { kind: 'correction', ...options }),
})

/** A session that was opened, for 30 days after the default time of past events. */
export const sessionOpened = (session = 1, expiresAtMs = THEN_MS + 30 * 86_400_000): AccountEvent => ({
  type: 'SessionOpened',
  data: { sessionId: sessionId(session), expiresAt: new Date(expiresAtMs).toISOString() },
})

type Ending = Extract<AccountEvent, { type: 'SessionClosed' }>['data']['reason']

export const sessionClosed = (session = 1, reason: Ending = 'signed_out'): AccountEvent => ({
  type: 'SessionClosed',
  data: { sessionId: sessionId(session), reason },
})

/** The mode of test keys and what they make. */
export const testMode = { livemode: false } as const
type TestMode = Partial<typeof testMode>

export const keyCreated = (key = 1, scope: KeyScope = 'full', limits: KeyLimits & TestMode = {}): AccountEvent => ({
  type: 'ApiKeyCreated',
  data: { keyId: keyId(key), name: 'laptop', hash: digest('b'), lastFour: 'beef', scope, ...limits },
})

/** A key with a budget in credits. */
export const keyWithBudget = (credits: number, period: BudgetPeriod = 'day', key = 1): AccountEvent =>
  keyCreated(key, 'full', { budget: { amountMicros: toMicros(credits), period } })

/** A command for a named budget in credits. */
export const setBudget = (name: string, credits: number, period?: BudgetPeriod) =>
  ({ type: 'SetBudget', name, amountMicros: toMicros(credits), period }) satisfies AccountCommand

export const removeBudget = (name: string) => ({ type: 'RemoveBudget', name }) satisfies AccountCommand

export const budgetSet = (name: string, credits: number, period?: BudgetPeriod, number = 1): AccountEvent => ({
  type: 'BudgetSet',
  data: { name, number, amountMicros: toMicros(credits), ...(period && { period }) },
})

export const budgetRemoved = (name: string): AccountEvent => ({ type: 'BudgetRemoved', data: { name } })

export const keyUsed = (key = 1): AccountEvent => ({
  type: 'ApiKeyUsed',
  data: { keyId: keyId(key), hash: digest('b') },
})

/** A key from before there were scopes. */
export const oldKeyCreated = (key = 1): AccountEvent => ({
  type: 'ApiKeyCreated',
  data: { keyId: keyId(key), name: 'laptop', hash: digest('b'), lastFour: 'beef' },
})

export const keyRevoked = (key = 1): AccountEvent => ({
  type: 'ApiKeyRevoked',
  data: { keyId: keyId(key), hash: digest('b') },
})

export const debited = (
  credits: number,
  { run = 1, after, budget }: { run?: number; after: number; budget?: BudgetUse | undefined },
): AccountEvent => ({
  type: 'CreditsDebited',
  data: {
    ...(budget && { budget }),
    runId: runId(run),
    amountMicros: toMicros(credits),
    balanceAfterMicros: toMicros(after),
    receipt: receipt(credits),
  },
})

export const queued = (options: RunOptions = {}): AccountEvent => ({ type: 'RunQueued', data: details(options) })

/** The event of an accepted test run, which has no debit. */
export const tested = ({ label, ...options }: RunOptions & { label?: string } = {}): AccountEvent => ({
  type: 'RunQueued',
  data: { ...details(options), ...testMode, receipt: receipt(options.credits), ...(label !== undefined && { label }) },
})

/** The two events of an accepted run. */
export const accepted = ({
  after,
  budget,
  ...options
}: RunOptions & { after: number; budget?: BudgetUse }): AccountEvent[] => [
  debited(options.credits ?? 10, { run: options.run ?? 1, after, budget }),
  queued(options),
]

export const started = (run = 1): AccountEvent => ({ type: 'RunStarted', data: { runId: runId(run), upstream } })

/** The start of a run that starts at once, in place of the event that would have queued it. */
export const startedAtOnce = ({ data }: AccountEvent): AccountEvent =>
  ({ type: 'RunStarted', data: { ...data, upstream } }) as AccountEvent

export const submitted = (run = 1): AccountEvent => ({
  type: 'RunSubmitted',
  data: { runId: runId(run), jobId: `job-${run}`, upstream },
})

export const completed = (run = 1, made: RunOutput = output): AccountEvent => ({
  type: 'RunCompleted',
  data: { runId: runId(run), output: made },
})

/** What a vendor charges for a run. */
export const costRecorded = (cost: ProviderCost, run = 1): AccountEvent => ({
  type: 'ProviderCostRecorded',
  data: { runId: runId(run), ...vendorUpstream, ...cost },
})

/** A vendor that works on runs for money. */
export const vendorUpstream = { provider: 'vendor', model: 'test', account: 'vendor' }

export const outputDeleted = (run = 1): AccountEvent => ({ type: 'RunOutputDeleted', data: { runId: runId(run) } })

export const archived = (...runs: number[]): AccountEvent => ({
  type: 'RunsArchived',
  data: { runs: runs.map(run => ({ runId: runId(run), revisions: [0] })) },
})

export const failed = (run = 1, code?: RunErrorCode, willDeleteAt?: string): AccountEvent => ({
  type: 'RunFailed',
  data: { runId: runId(run), error: failure(code), ...(willDeleteAt && { willDeleteAt }) },
})

export const refunded = (
  credits: number,
  {
    run = 1,
    after,
    code = 'provider_error',
    reason,
    debit = debitFacts,
    lots,
  }: {
    run?: number
    after: number
    code?: RunErrorCode
    reason?: string
    debit?: DebitFacts
    /** The lots that get the credits back, each with its credits. */
    lots?: [lot: number, credits: number][]
  },
): AccountEvent => {
  const moved = { runId: runId(run), amountMicros: toMicros(credits), balanceAfterMicros: toMicros(after) }
  const why = reason === undefined ? { reason: `the run failed: ${code}`, debit, error: code } : { reason, debit }
  return { type: 'CreditsRefunded', data: { ...moved, ...why, ...(lots && { lots: lots.map(toUse) }) } }
}

const toUse = ([lot, credits]: [number, number]) => ({ lot, amountMicros: toMicros(credits) })

/** A lot that ended with so many credits. */
export const expired = (lot: number, credits: number, { after }: { after: number }): AccountEvent => ({
  type: 'CreditsExpired',
  data: { lot, amountMicros: toMicros(credits), balanceAfterMicros: toMicros(after) },
})

export const cancelRequested = (run = 1): AccountEvent => ({ type: 'RunCancelRequested', data: { runId: runId(run) } })

export const delivered = (attempt = 1, run = 1): AccountEvent => ({
  type: 'WebhookDelivered',
  data: { runId: runId(run), attempt, status: 200 },
})

export const undelivered = (attempt = 1, { run = 1, next }: { run?: number; next?: string } = {}): AccountEvent => ({
  type: 'WebhookAttemptFailed',
  data: { runId: runId(run), attempt, ...fault, ...(next !== undefined && { nextAttemptAt: next }) },
})

export const abandoned = (attempts: number, run = 1): AccountEvent => ({
  type: 'WebhookAbandoned',
  data: { runId: runId(run), attempts },
})

export const redeliveryRequested = (run = 1): AccountEvent => ({
  type: 'WebhookRedeliveryRequested',
  data: { runId: runId(run), url: hook },
})

export const secretRotated = (generation: number): AccountEvent => ({
  type: 'WebhookSecretRotated',
  data: { generation },
})

export const testRequested = (test = 1): AccountEvent => ({
  type: 'WebhookTestRequested',
  data: { testId: testId(test), url: hook },
})

export const webhookTested = (test = 1): AccountEvent => ({
  type: 'WebhookTested',
  data: { testId: testId(test), status: 204, latencyMs: 87 },
})

export const uploadGranted = (options: UploadOptions = {}, mode: TestMode = {}): AccountEvent => ({
  type: 'UploadGranted',
  data: { ...upload(options), ...mode },
})

export const uploadStored = (number = 1, options: FileOptions = {}): AccountEvent => ({
  type: 'UploadStored',
  data: file(number, options),
})

export const uploadDeletionRequested = (number = 1): AccountEvent => ({
  type: 'UploadDeletionRequested',
  data: { uploadId: uploadId(number) },
})

export const uploadDeleted = (number = 1, reason: UploadDeleted['reason'] = 'expired'): AccountEvent => ({
  type: 'UploadDeleted',
  data: { uploadId: uploadId(number), reason },
})
