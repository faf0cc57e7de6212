import t from 'tap'
import { isLong } from '../../support/test-length.ts'
import { type Report, World } from './world.ts'

/** Short worlds that together have all that must occur. The short form has five. `npm run simulate` runs others. */
const SEEDS = [65, 139, 72, 21, 123, 63]

/** A world takes seconds, so the tests share them. */
const lived = new Map<number, Report>()
const worldOf = async (seed: number): Promise<Report> => {
  const report = lived.get(seed) ?? (await new World({ seed }).live())
  lived.set(seed, report)
  return report
}

t.test('two worlds with one seed have the same trace', async t => {
  const [seed = 0, another = 0] = SEEDS
  const { traceHash } = await worldOf(seed)
  t.equal((await new World({ seed }).live()).traceHash, traceHash)
  t.not((await worldOf(another)).traceHash, traceHash)
})

/** Commands, events and faults without which the worlds would show little. */
const OCCURRENCES = [
  ...['run ok', 'repeat ok', 'misuse idempotency_mismatch', 'cancel ok', 'find ok', 'balance ok', 'refund ok'],
  ...['CreditsReleased', 'tokens: usual', 'tokens: cached', 'tokens: none', 'tokens: more', 'tokens: absurd'],
  ...['talk ok', 'text heard', 'text cut off', 'text broken off', 'listener leaves', 'listener cancels'],
  ...['upload ok', 'presign 200', 'retouch ok', 'deleteUpload ok', 'redeliver ok', 'grant ok', 'withdraw ok'],
  ...[
    'RunCompleted',
    'RunFailed',
    'RunCancelRequested',
    'RunOutputDeleted',
    'RunsArchived',
    'UploadDeleted',
    'ApiKeyRevoked',
  ],
  ...['run budget_exceeded', 'ApiKeyUsed', 'test run ok', 'find of the other mode'],
  ...['requestCode ok', 'enterCode ok', 'enterCode code_wrong', 'visit ok', 'signOutEverywhere ok'],
  ...['buy ok', 'comeBack ok', 'PurchasePaid', 'PurchaseClosed', 'customer: order', 'customer: leave', 'report lost'],
  ...['refundPurchase ok', 'refundPurchase refund_above_rest', 'RefundAccepted', 'RefundFailed', 'PaymentRefunded'],
  ...['PaymentDisputed', 'DisputeWon', 'CreditsOwed', 'CreditsSettled', 'run credits_owed', 'CreditsExpired'],
  ...['setTopUp ok', 'removeTopUp ok', 'TopUpDue', 'TopUpSettled', 'TopUpRemoved'],
  ...['charge: pay', 'charge: decline', 'charge: wait'],
  ...['WebhookAttemptFailed', 'WebhookAbandoned', 'WebhookDelivered', 'WebhookRedeliveryRequested'],
  ...['resend ok', 'WebhookSecretRotated', 'WebhookTested', 'setNotices ok', 'NoticeRaised', 'NoticeDelivered'],
  ...[
    'request lost',
    'answer lost',
    'refused',
    'doubled',
    'dropped',
    'silent subscription',
    'receiver hangs',
    'job forgotten',
  ],
  ...['crash', 'stop', 'power loss', 'partition', 'clock jump', 'suspension'],
  ...['views: empty', 'views: roll back', 'views: forge', 'views: forge node'],
  ...[
    'LogSealed',
    'closePeriod ok',
    'closePeriod period_closed',
    'keepSeal ok',
    'proveRun ok',
    'proveRun event_not_sealed',
    'proveConsistency ok',
  ],
]

t.test('no world breaks a promise', async t => {
  const occurred = new Set<string>()
  for (const seed of SEEDS.slice(0, isLong ? undefined : 5)) {
    const { violations, counts } = await worldOf(seed)
    t.same(violations, [], `seed ${seed}`)
    for (const what of counts.keys()) occurred.add(what)
    if (OCCURRENCES.every(what => occurred.has(what))) break
  }
  if (!isLong) return
  t.same(
    OCCURRENCES.filter(what => !occurred.has(what)),
    [],
    'these have occurred',
  )
})
