import t from 'tap'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import {
  MAX_ACTIVE_KEYS,
  MAX_BUDGETS,
  MAX_GRANT_MICROS,
  MAX_LIVE_UPLOADS,
  MAX_OPEN_RUN_BYTES,
  MAX_OPEN_RUNS,
} from '../../../schemas/primitives.ts'
import { account } from '../../../src/domain/account/account.ts'
import type { AccountCommand } from '../../../src/domain/account/commands.ts'
import { MAX_OWN_FAILURES } from '../../../src/domain/account/limits.ts'
import { MAX_RESENDS, MAX_TESTS } from '../../../src/domain/account/webhooks.ts'
import type { PastEvent } from '../../../src/domain/decider.ts'
import { fromMicros, toMicros } from '../../../src/domain/money.ts'
import type { RefusalCode } from '../../../src/domain/refusal.ts'
import {
  accepted,
  accountErased,
  accountSuspended,
  archiveRuns,
  budgetSet,
  cancelRun,
  completeRun,
  createKey,
  digest,
  eraseAccount,
  failed,
  failRun,
  grantCredits,
  granted,
  grantUpload,
  keyCreated,
  keyId,
  openAccount,
  opened,
  queueRun,
  recordDelivered,
  recordOutputDeletion,
  recordTest,
  recordUploadDeletion,
  redeliver,
  redeliveryRequested,
  removeBudget,
  requestTest,
  requestUploadDeletion,
  resend,
  resumeAccount,
  retentionSet,
  revokeKey,
  rotateSecret,
  secretRotated,
  setBudget,
  setLimits,
  setRetention,
  setTester,
  started,
  startRun,
  storeUpload,
  submitRun,
  submitted,
  suspendAccount,
  tested,
  testMode,
  testRequested,
  uploadDeletionRequested,
  uploadGranted,
  uploadStored,
  useKey,
} from '../../support/account-samples.ts'
import { at, by, given, THEN_MS } from '../../support/given.ts'
import {
  balanceLow,
  noticeRaised,
  noticesSet,
  raiseKeyExpiry,
  raiseRetirement,
  recordNoticeSent,
  retirementIn,
  setNotices,
} from '../../support/notice-samples.ts'

/** A command and its history, with one fault fewer than in the step before, and the refusal expected for the rest. */
type Step = [
  refusal: RefusalCode | undefined,
  command: AccountCommand,
  ...history: (AccountEvent | PastEvent<AccountEvent>)[],
]

const MAX_GRANT_CREDITS = fromMicros(MAX_GRANT_MICROS)
const NEAR_LIMIT_CREDITS = 9 * MAX_GRANT_CREDITS
const keys = (count: number) => Array.from({ length: count }, (_, index) => keyCreated(index + 1))
const uploads = Array.from({ length: MAX_LIVE_UPLOADS }, (_, index) =>
  by(keyId(), THEN_MS, uploadGranted({ upload: index + 1 })),
)
const grantToOwner = (quotaBytes?: number) => ({ ...grantUpload({}, 1, quotaBytes), isByOwner: true })
const sentWith = storeUpload(1, { askedWith: 1 })
const deleting = [uploadGranted(), uploadDeletionRequested()]
const open = accepted({ key: 'a', hash: digest('a'), credits: 10, after: 0 })
const failures = Array.from({ length: MAX_OWN_FAILURES }, () => failed(9, 'invalid_input'))
const queue = [
  granted(MAX_OPEN_RUNS + 10),
  ...Array.from({ length: MAX_OPEN_RUNS }, (_, index) =>
    accepted({ run: index + 10, credits: 1, after: MAX_OPEN_RUNS + 9 - index }),
  ).flat(),
]
const largeRun = accepted({ run: 3, after: 10, metadata: { note: 'x'.repeat(MAX_OPEN_RUN_BYTES) } })
const poor = [opened(), granted(10), ...open]

const YEAR_MS = 365 * 24 * 60 * 60 * 1000
const resent = Array.from({ length: MAX_RESENDS }, () => by(keyId(), THEN_MS, redeliveryRequested(2)))
const tests = Array.from({ length: MAX_TESTS }, (_, index) => testRequested(index + 1))
const expired = { expiresAt: new Date(THEN_MS).toISOString() }
const limited = (model: string, credits: number) =>
  keyCreated(1, 'full', { models: [model], budget: { amountMicros: toMicros(credits), period: 'day' } })

const testKey = keyCreated(200, 'keys', testMode)
const wrongKey = createKey(101, 'full', { budget: { amountMicros: 1, period: 'day' } })

const budgets = Array.from({ length: MAX_BUDGETS }, (_, index) => budgetSet(`${index}`, 1, 'day', index + 1))
const setBudgetWith = (key: number) => ({ ...setBudget('a', 1), keyId: keyId(key) })

/** A test run as a key asks for it, with the digest of its request. */
const testWith = (hash: string, run = 2) => ({
  ...queueRun({ run, askedWith: 1, key: 'a', hash: digest(hash) }),
  testRunsPerDay: 1,
})
const STRANGER = { kind: 'email', address: 'nobody@example.com' } as const
const otherModel = { models: ['other'], ...testMode }
const oneInFlight = { runsInFlight: { perKey: 1, perAccount: 1 } }

// Each walk starts with every fault and fixes one at a time, which proves the order of the checks.
const walks: Record<string, Step[]> = {
  OpenAccount: [
    ['account_exists', openAccount(), opened()],
    [undefined, openAccount()],
  ],
  SuspendAccount: [
    ['account_not_found', suspendAccount(), accountSuspended()],
    ['account_already_suspended', suspendAccount(), opened(), accountSuspended()],
    [undefined, suspendAccount(), opened()],
  ],
  EraseAccount: [
    ['account_not_found', eraseAccount()],
    ['account_erased', eraseAccount(), opened(), granted(10), ...open, accountErased()],
    ['account_has_open_runs', eraseAccount(), opened(), granted(10), ...open],
    [undefined, eraseAccount(), opened()],
  ],
  ResumeAccount: [
    ['account_not_found', resumeAccount()],
    ['account_not_suspended', resumeAccount(), opened()],
    [undefined, resumeAccount(), opened(), accountSuspended()],
  ],
  SetTester: [
    ['account_not_found', setTester()],
    [undefined, setTester(), opened()],
  ],
  SetLimits: [
    ['account_not_found', setLimits('default')],
    [undefined, setLimits('default'), opened()],
  ],
  SetRetention: [
    ['account_not_found', setRetention(0)],
    [undefined, setRetention(0), opened()],
  ],
  GrantCredits: [
    ['account_not_found', grantCredits(MAX_GRANT_CREDITS), granted(NEAR_LIMIT_CREDITS)],
    ['balance_too_high', grantCredits(MAX_GRANT_CREDITS), granted(NEAR_LIMIT_CREDITS), opened()],
    [undefined, grantCredits(1), granted(NEAR_LIMIT_CREDITS), opened()],
  ],
  CreateApiKey: [
    ['account_not_found', createKey(1), ...keys(MAX_ACTIVE_KEYS)],
    ['key_revoked', { ...createKey(1), askedWith: keyId(200) }, ...keys(MAX_ACTIVE_KEYS), opened()],
    ['key_exists', createKey(1), ...keys(MAX_ACTIVE_KEYS), opened()],
    ['live_key_not_grantable', { ...wrongKey, askedWith: keyId(200) }, ...keys(MAX_ACTIVE_KEYS), testKey, opened()],
    ['test_key_budget', { ...wrongKey, key: { ...wrongKey.key, ...testMode } }, ...keys(MAX_ACTIVE_KEYS), opened()],
    ['too_many_keys', createKey(101), ...keys(MAX_ACTIVE_KEYS), opened()],
    [undefined, createKey(101), ...keys(MAX_ACTIVE_KEYS - 1), opened()],
  ],
  UseApiKey: [
    ['account_not_found', useKey(1)],
    ['key_revoked', useKey(1), opened()],
    [undefined, useKey(1), opened(), keyCreated()],
  ],
  RevokeApiKey: [
    ['account_not_found', revokeKey()],
    ['key_revoked', { ...revokeKey(), askedWith: keyId(200) }, opened()],
    ['key_not_found', revokeKey(), opened()],
    [undefined, revokeKey(), opened(), keyCreated()],
  ],
  QueueRun: [
    ['account_not_found', queueRun({ askedWith: 1, key: 'a', hash: digest('b') })],
    ['key_revoked', queueRun({ askedWith: 1, key: 'a', hash: digest('b') }), ...poor],
    ['key_expired', queueRun({ askedWith: 1, key: 'a', hash: digest('b') }), ...poor, keyCreated(1, 'read', expired)],
    ['forbidden', queueRun({ askedWith: 1, key: 'a', hash: digest('b') }), ...poor, keyCreated(1, 'read')],
    ['idempotency_mismatch', queueRun({ askedWith: 1, key: 'a', hash: digest('b') }), ...poor, keyCreated()],
    ['run_exists', queueRun({ askedWith: 1, key: 'b', hash: digest('b') }), ...poor, limited('other', 5)],
    [
      'retention_changed',
      queueRun({ run: 2, askedWith: 1, key: 'b', hash: digest('b') }),
      ...poor,
      ...[limited('other', 5), retentionSet(0)],
    ],
    [
      'model_not_allowed',
      queueRun({ run: 2, askedWith: 1, key: 'b', hash: digest('b') }),
      ...poor,
      limited('other', 5),
    ],
    [
      'price_above_limit',
      queueRun({ run: 2, askedWith: 1, key: 'b', hash: digest('b'), maxCredits: 9.999999 }),
      ...poor,
      limited('nano-banana-2', 5),
    ],
    [
      'run_budget_unknown',
      queueRun({ run: 2, askedWith: 1, key: 'b', hash: digest('b'), maxCredits: 10, budget: 'a' }),
      ...poor,
      limited('nano-banana-2', 5),
    ],
    [
      'budget_exceeded',
      queueRun({ run: 2, askedWith: 1, key: 'b', hash: digest('b'), budget: 'a' }),
      ...poor,
      ...[limited('nano-banana-2', 5), budgetSet('a', 10)],
    ],
    [
      'budget_exceeded',
      queueRun({ run: 2, askedWith: 1, key: 'b', hash: digest('b'), budget: 'a' }),
      ...poor,
      ...[limited('nano-banana-2', 10), budgetSet('a', 5)],
    ],
    [
      'insufficient_credits',
      queueRun({ run: 2, askedWith: 1, key: 'b', hash: digest('b'), budget: 'a' }),
      ...poor,
      ...[limited('nano-banana-2', 10), budgetSet('a', 10)],
    ],
    ['too_many_failures', queueRun({ run: 2, key: 'b', hash: digest('b') }), ...poor, ...queue, ...failures],
    [
      'too_many_runs_in_flight',
      { ...queueRun({ run: 2, key: 'b', hash: digest('b') }), runsInFlight: { perKey: 1, perAccount: 1 } },
      ...[...poor, ...queue],
    ],
    ['too_many_open_runs', queueRun({ run: 2, key: 'b', hash: digest('b') }), ...poor, ...queue],
    ['open_runs_too_large', queueRun({ run: 2, key: 'b', hash: digest('b') }), ...poor, granted(20), ...largeRun],
    [undefined, queueRun({ run: 2, key: 'b', hash: digest('b') }), ...poor, granted(10)],
  ],
  'QueueRun with a test key': [
    ['key_revoked', testWith('b')],
    ['idempotency_mismatch', testWith('b'), keyCreated(1, 'full', testMode), tested({ key: 'a' })],
    ['run_exists', testWith('a', 1), keyCreated(1, 'full', otherModel), tested()],
    ['model_not_allowed', testWith('a'), keyCreated(1, 'full', otherModel), tested()],
    [
      'price_above_limit',
      { ...testWith('a'), ...oneInFlight, maxMicros: 9_999_999 },
      ...[keyCreated(1, 'full', testMode), tested()],
    ],
    [
      'run_budget_unknown',
      { ...testWith('a'), ...oneInFlight, budget: 'a' },
      ...[keyCreated(1, 'full', testMode), tested()],
    ],
    ['too_many_test_runs', { ...testWith('a'), ...oneInFlight }, keyCreated(1, 'full', testMode), tested()],
    ['too_many_runs_in_flight', { ...testWith('a'), ...oneInFlight }, keyCreated(1, 'full', testMode), ...open],
    [undefined, testWith('a'), keyCreated(1, 'full', testMode), ...failures],
  ].map(([refusal, command, ...history]) => [refusal, command, opened(), granted(10), ...history] as Step),
  SetBudget: [
    ['account_not_found', setBudgetWith(1), ...budgets],
    ['key_revoked', setBudgetWith(1), opened(), ...budgets],
    ['key_expired', setBudgetWith(1), opened(), keyCreated(1, 'read', expired), ...budgets],
    ['forbidden', setBudgetWith(1), opened(), keyCreated(1, 'read'), ...budgets],
    ['too_many_budgets', setBudgetWith(1), opened(), keyCreated(), ...budgets],
    [undefined, setBudgetWith(1), opened(), keyCreated(), ...budgets.slice(1)],
  ],
  RemoveBudget: [
    ['account_not_found', { ...removeBudget('a'), keyId: keyId(1) }],
    ['key_revoked', { ...removeBudget('a'), keyId: keyId(1) }, opened()],
    ['forbidden', { ...removeBudget('a'), keyId: keyId(1) }, opened(), keyCreated(1, 'read')],
    ['budget_not_found', { ...removeBudget('a'), keyId: keyId(1) }, opened(), keyCreated()],
    [undefined, { ...removeBudget('a'), keyId: keyId(1) }, opened(), keyCreated(), budgetSet('a', 1)],
  ],
  CancelRun: [
    ['account_not_found', cancelRun(1, 1)],
    ['key_revoked', cancelRun(1, 1), opened()],
    ['forbidden', cancelRun(1, 1), opened(), keyCreated(1, 'read')],
    ['run_not_open', cancelRun(1, 1), opened(), keyCreated()],
    [undefined, cancelRun(1, 1), ...poor, keyCreated()],
  ],
  RecordDelivery: [
    ['account_not_found', recordDelivered()],
    ['webhook_not_pending', recordDelivered(), opened()],
    [undefined, recordDelivered(), opened(), redeliveryRequested()],
  ],
  RedeliverWebhook: [
    ['account_not_found', redeliver()],
    ['run_not_ended', redeliver(), ...poor, redeliveryRequested()],
    ['webhook_pending', redeliver(), opened(), redeliveryRequested()],
    [undefined, redeliver(), opened()],
  ],
  'RedeliverWebhook for the owner': [
    ['account_not_found', resend({ askedWith: 1 }), ...resent],
    ['key_revoked', resend({ askedWith: 1 }), ...poor, redeliveryRequested(), ...resent],
    ['key_expired', resend({ askedWith: 1 }), ...poor, keyCreated(1, 'read', expired), ...resent],
    ['forbidden', resend({ askedWith: 1 }), ...poor, keyCreated(1, 'read'), redeliveryRequested(), ...resent],
    ['run_not_ended', resend({ askedWith: 1 }), ...poor, keyCreated(), redeliveryRequested(), ...resent],
    ['webhook_pending', resend({ askedWith: 1 }), opened(), keyCreated(), redeliveryRequested(), ...resent],
    ['too_many_resends', resend({ askedWith: 1 }), opened(), keyCreated(), ...resent],
    [undefined, resend({ askedWith: 1 }), opened(), keyCreated()],
  ],
  RotateWebhookSecret: [
    ['account_not_found', rotateSecret(1), secretRotated(1)],
    ['key_revoked', rotateSecret(1), opened(), secretRotated(1)],
    ['key_expired', rotateSecret(1), opened(), keyCreated(1, 'read', expired), secretRotated(1)],
    ['forbidden', rotateSecret(1), opened(), keyCreated(1, 'read'), secretRotated(1)],
    ['webhook_secret_rotated', rotateSecret(1), opened(), keyCreated(), secretRotated(1)],
    [undefined, rotateSecret(1), opened(), keyCreated()],
  ],
  RequestWebhookTest: [
    ['account_not_found', requestTest(6, 1), ...tests],
    ['key_revoked', requestTest(6, 1), opened(), ...tests],
    ['key_expired', requestTest(6, 1), opened(), keyCreated(1, 'read', expired), ...tests],
    ['forbidden', requestTest(6, 1), opened(), keyCreated(1, 'read'), ...tests],
    ['too_many_webhook_tests', requestTest(6, 1), opened(), keyCreated(), ...tests],
    [undefined, requestTest(6, 1), opened(), keyCreated()],
  ],
  RecordWebhookTest: [
    ['account_not_found', recordTest(), testRequested()],
    ['webhook_not_pending', recordTest(), opened()],
    [undefined, recordTest(), opened(), testRequested()],
  ],
  StartRun: [
    ['account_not_found', startRun()],
    ['run_not_open', startRun(), opened()],
    ['run_already_started', startRun(), ...poor, started()],
    [undefined, startRun(), ...poor],
  ],
  SubmitRun: [
    ['account_not_found', submitRun()],
    ['run_not_open', submitRun(), opened()],
    ['run_not_started', submitRun(), ...poor, submitted()],
    ['run_already_submitted', submitRun(), ...poor, started(), submitted()],
    [undefined, submitRun(), ...poor, started()],
  ],
  CompleteRun: [
    ['account_not_found', completeRun()],
    ['run_not_open', completeRun(), opened()],
    ['run_not_started', completeRun(), ...poor],
    [undefined, completeRun(), ...poor, started()],
  ],
  FailRun: [
    ['account_not_found', failRun()],
    ['run_not_open', failRun(), opened()],
    [undefined, failRun(), ...poor],
  ],
  RecordOutputDeletion: [
    ['account_not_found', recordOutputDeletion()],
    ['run_not_ended', recordOutputDeletion(), ...poor],
    [undefined, recordOutputDeletion(), opened()],
  ],
  ArchiveRuns: [
    ['account_not_found', archiveRuns(1)],
    [undefined, archiveRuns(1), opened()],
  ],
  SetNotices: [
    ['account_not_found', setNotices({}, 1)],
    ['key_revoked', setNotices({}, 1), opened()],
    ['forbidden', setNotices({}, 1), opened(), keyCreated(1, 'read')],
    ['notice_address_unlinked', { ...setNotices({}, 1), mailTo: STRANGER }, opened(), keyCreated()],
    [undefined, setNotices({}, 1), opened(), keyCreated()],
  ],
  RaiseKeyExpiry: [
    ['account_not_found', raiseKeyExpiry()],
    ['notice_not_due', raiseKeyExpiry(), opened()],
    [undefined, raiseKeyExpiry(), opened(), at(THEN_MS - YEAR_MS, keyCreated(1, 'full', expired))],
  ],
  RaiseRetirement: [
    ['account_not_found', raiseRetirement(retirementIn(7))],
    ['notice_not_due', raiseRetirement(retirementIn(7)), opened()],
    [undefined, raiseRetirement(retirementIn(7)), opened(), noticesSet()],
  ],
  RecordNotice: [
    ['account_not_found', recordNoticeSent()],
    ['notice_not_due', recordNoticeSent(), opened()],
    [undefined, recordNoticeSent(), opened(), noticeRaised(1, balanceLow(5))],
  ],
  GrantUpload: [
    ['account_not_found', grantUpload(), ...uploads],
    ['key_revoked', grantUpload(), ...uploads, opened()],
    ['forbidden', grantUpload(), ...uploads, opened(), keyCreated(1, 'read')],
    ['upload_exists', grantUpload(), ...uploads, opened(), keyCreated()],
    ['too_many_uploads', grantUpload({ upload: MAX_LIVE_UPLOADS + 1 }, 1, 0), ...uploads, opened(), keyCreated()],
    ['upload_quota_exceeded', grantToOwner(0), ...uploads.slice(1), opened(), keyCreated()],
    ['too_many_free_events', grantToOwner(), ...uploads.slice(1), opened(), keyCreated()],
    [undefined, grantToOwner(), ...uploads.slice(-1000), opened(), keyCreated()],
  ],
  StoreUpload: [
    ['account_not_found', sentWith, ...deleting],
    ['key_revoked', sentWith, opened(), ...deleting],
    ['forbidden', sentWith, opened(), keyCreated(1, 'read'), ...deleting],
    ['upload_not_found', sentWith, opened(), keyCreated(), ...deleting],
    ['upload_already_stored', sentWith, opened(), keyCreated(), uploadGranted(), uploadStored()],
    [undefined, storeUpload(1, { sealed: true }), opened(), uploadGranted(), uploadStored()],
  ],
  RequestUploadDeletion: [
    ['account_not_found', requestUploadDeletion(1, 1), uploadGranted()],
    ['key_revoked', requestUploadDeletion(1, 1), opened()],
    ['forbidden', requestUploadDeletion(1, 1), opened(), keyCreated(1, 'read')],
    ['upload_not_found', requestUploadDeletion(1, 1), opened(), keyCreated()],
    [undefined, requestUploadDeletion(1, 1), opened(), keyCreated(), uploadGranted()],
  ],
  RecordUploadDeletion: [
    ['account_not_found', recordUploadDeletion(), uploadGranted()],
    ['upload_not_found', recordUploadDeletion(), opened()],
    [undefined, recordUploadDeletion(), opened(), uploadGranted()],
  ],
}

for (const [name, steps] of Object.entries(walks))
  t.test(`${name} checks for refusals in a fixed order`, async t => {
    const refusals = steps.map(([, command, ...history]) => given(account, ...history).when(command).refusal)
    t.same(
      refusals,
      steps.map(([refusal]) => refusal),
    )
  })

for (const [name, [[, command, ...history] = [], ...steps]] of Object.entries(walks))
  t.test(`${name} of the owner of a suspended account is refused before all else`, async t => {
    if (!command || name === 'OpenAccount') return t.pass('nobody owns it yet')
    const byOwner = { ...command, isByOwner: true }
    const past = history.filter(({ type }) => type !== 'AccountOpened')
    t.equal(given(account, ...past, accountSuspended()).when(byOwner).refusal, 'account_not_found')
    given(account, opened(), ...past, accountSuspended())
      .when(byOwner)
      .refused('account_suspended', { reason: 'unpaid' })
    const [, last, ...before] = steps.at(-1) as Step
    if (name !== 'SuspendAccount')
      t.equal(
        given(account, ...before, accountSuspended()).when({ ...last, isByOwner: false }).refusal,
        undefined,
        'others may go on',
      )
  })
