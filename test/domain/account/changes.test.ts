import t from 'tap'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import { account } from '../../../src/domain/account/account.ts'
import { MAX_CHANGE_BYTES } from '../../../src/domain/account/changes.ts'
import {
  createKey,
  keyCreated,
  keyId,
  limitsSet,
  opened,
  redeliver,
  requestTest,
  resend,
  revokeKey,
  rotateSecret,
  setLimits,
} from '../../support/account-samples.ts'
import { at, by, given, THEN_MS } from '../../support/given.ts'
import { noticesSet, setNotices } from '../../support/notice-samples.ts'

const HOUR_MS = 60 * 60 * 1000

const url = `https://example.com/${'x'.repeat(2000)}`
const change = noticesSet({ url })
const bytes = Buffer.byteLength(JSON.stringify(change.data)) + 400

/** As many changes by a key as the budget allows, and one more. */
const many = (ms = THEN_MS): AccountEvent[] =>
  Array.from({ length: Math.ceil(MAX_CHANGE_BYTES / bytes) }, () => by(keyId(1), ms, change))

const asOwner = <Command extends object>(command: Command) => ({ ...command, isByOwner: true })

const commands = {
  'new settings': setNotices({ balanceUnderMicros: 1 }),
  'a new key': createKey(2),
  'another secret': rotateSecret(),
  'a test': requestTest(1),
  'a delivery': redeliver(),
}

t.test('the owner of an account may change so much in an hour', async t => {
  const full = given(account, opened(), keyCreated(1), ...many())
  const excess = many().length * bytes - MAX_CHANGE_BYTES
  for (const [name, command] of Object.entries(commands)) {
    const { decision } = full.when(asOwner(command))
    t.match(decision, { refuse: { code: 'too_many_changes', retryAfterMs: Math.ceil(excess * 3.6) } }, name)
    t.match(full.when(command).decision, { accept: [{}] }, `${name} for the operator`)
    const later = { ...command, atMs: THEN_MS + HOUR_MS }
    t.match(full.when(asOwner(later)).decision, { accept: [{}] }, `${name} after an hour`)
  }
})

t.test('a clock that is a little behind forgets nothing', async () => {
  const behind = by(keyId(1), THEN_MS - 30_000, change)
  const excess = (many().length + 1) * bytes - MAX_CHANGE_BYTES
  given(account, opened(), keyCreated(1), ...many(), behind)
    .when(asOwner(createKey(2)))
    .refused('too_many_changes', { retryAfterMs: Math.ceil(excess * 3.6) })
})

t.test('a key can be revoked at any time, and that counts', async t => {
  const full = given(account, opened(), keyCreated(1), ...many())
  t.match(full.when(asOwner(revokeKey(1))).decision, { accept: [{ type: 'ApiKeyRevoked' }] })
})

t.test('what an operator changes, and changes of a clock that was far ahead, count nothing', async t => {
  const operator = { actor: { kind: 'operator', name: 'ada' } }
  const byOperator = many().map(event => {
    const past = at(THEN_MS, event)
    return { ...past, metadata: { ...past.metadata, ...operator } }
  })
  for (const history of [byOperator, many(THEN_MS + 24 * HOUR_MS)])
    t.match(given(account, opened(), keyCreated(1), ...history).when(asOwner(resend({}))).decision, { accept: [{}] })
})

t.test('settings and limits that change nothing are no event', async () => {
  given(account, opened(), noticesSet({ url })).when(setNotices({ url })).then()
  given(account, opened(), limitsSet({ runsInFlight: 5 }))
    .when(setLimits({ runsInFlight: 5 }))
    .then()
  given(account, opened(), limitsSet({ runsInFlight: 5 }))
    .when(setLimits({ runsInFlight: 6 }))
    .then(limitsSet({ runsInFlight: 6 }))
})
