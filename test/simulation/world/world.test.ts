import t from 'tap'
import { isLong } from '../../support/test-length.ts'
import { World } from './world.ts'

/**
 * The worlds of every full test run, which take less than half a minute. The first ones have rare faults. `npm run
 * simulate` runs others.
 */
const SEEDS = [29, 3, 7, 8, 11, 1, 2, 4, 5, 6, 9, 10, 12, 13, 14, 15]

t.test('two worlds with one seed have the same trace', async t => {
  const [one, other] = [await new World({ seed: 7 }).live(), await new World({ seed: 7 }).live()]
  t.equal(one.traceHash, other.traceHash)
  t.not(one.traceHash, (await new World({ seed: 8 }).live()).traceHash)
})

/** Commands, events and faults without which the worlds would show little. */
const OCCURRENCES = [
  ...['run ok', 'repeat ok', 'misuse idempotency_mismatch', 'cancel ok', 'find ok', 'balance ok', 'refund ok'],
  ...['upload ok', 'presign 200', 'retouch ok', 'deleteUpload ok', 'redeliver ok', 'grant ok', 'withdraw ok'],
  ...['RunCompleted', 'RunFailed', 'RunCancelRequested', 'RunOutputDeleted', 'UploadDeleted', 'ApiKeyRevoked'],
  ...['WebhookAttemptFailed', 'WebhookAbandoned', 'WebhookDelivered', 'WebhookRedeliveryRequested'],
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
  ...['views: empty', 'views: roll back', 'views: forge'],
]

t.test('no world breaks a promise', async t => {
  const occurred = new Set<string>()
  for (const seed of SEEDS) {
    const { violations, counts } = await new World({ seed }).live()
    t.same(violations, [], `seed ${seed}`)
    for (const what of counts.keys()) occurred.add(what)
    if (!isLong && OCCURRENCES.every(what => occurred.has(what))) break
  }
  t.same(
    OCCURRENCES.filter(what => !occurred.has(what)),
    [],
    'these have occurred',
  )
})
