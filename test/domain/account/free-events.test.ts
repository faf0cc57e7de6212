import t from 'tap'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import { account } from '../../../src/domain/account/account.ts'
import type { AccountCommand } from '../../../src/domain/account/commands.ts'
import { FREE_EVENTS } from '../../../src/domain/account/limits.ts'
import type { FreeEvents } from '../../../src/domain/account/state.ts'
import {
  accepted,
  createKey,
  granted,
  grantUpload,
  keyCreated,
  keyId,
  keyRevoked,
  limitsSet,
  opened,
  queueRun,
  redeliver,
  requestTest,
  requestUploadDeletion,
  revokeKey,
  rotateSecret,
  runId,
  setLimits,
  tested,
  testMode,
  uploadDeletionRequested,
  uploadGranted,
} from '../../support/account-samples.ts'
import { at, by, given, THEN_MS } from '../../support/given.ts'
import { noticesSet, setNotices } from '../../support/notice-samples.ts'

const LIVE = 1
const TEST = 2
const HOUR_MS = 60 * 60 * 1000
const LONG = 'x'.repeat(2000)
const url = `https://example.com/${LONG}`

interface Kind {
  event: (number: number) => AccountEvent
  commands: Record<string, AccountCommand>
}

const NEXT = 100_000

/** Failed runs are in `run-limits.test.ts`. */
type OfOwner = Exclude<FreeEvents, 'failedRuns'>

const kinds: Record<OfOwner, Kind> = {
  changes: {
    event: () => noticesSet({ url }),
    commands: {
      'new settings': setNotices({ balanceUnderMicros: 1 }),
      'a new key': createKey(3),
      'another secret': rotateSecret(),
      'a webhook test': requestTest(1),
      'a delivery': redeliver(),
    },
  },
  testRuns: {
    event: run => tested({ run: run + 1, metadata: { LONG } }),
    commands: { 'a test run': queueRun({ run: NEXT, askedWith: TEST }) },
  },
  uploads: {
    event: upload => uploadGranted({ upload }),
    commands: { 'an upload': grantUpload({ upload: NEXT }) },
  },
}

const open = [opened(), keyCreated(LIVE), keyCreated(TEST, 'full', testMode)]

const bytesOf = (of: OfOwner, event: AccountEvent) =>
  Buffer.byteLength(JSON.stringify(event.data)) + FREE_EVENTS[of].otherBytes

/** As many events by a key as the limit allows, and one more; and the bytes by which they pass it. */
const many = (of: OfOwner, ms = THEN_MS) => {
  const events: AccountEvent[] = []
  let excess = -FREE_EVENTS[of].limitBytes
  while (excess <= 0) {
    const event = kinds[of].event(events.length + 1)
    excess += bytesOf(of, event)
    events.push(by(keyId(LIVE), ms, event))
  }
  return { events, excess }
}

const asOwner = <Command extends object>(command: Command) => ({ ...command, isByOwner: true })

const waitMs = (of: OfOwner, bytes: number) => Math.ceil((bytes * HOUR_MS) / FREE_EVENTS[of].limitBytes)

for (const of of Object.keys(kinds) as OfOwner[]) {
  const { event, commands } = kinds[of]
  const { events, excess } = many(of)

  t.test(`${of}: an account may cause so many bytes in an hour`, async t => {
    const full = given(account, ...open, ...events)
    const almost = given(account, ...open, ...events.slice(1))
    for (const [name, command] of Object.entries(commands)) {
      const { decision } = full.when(asOwner(command))
      t.same(decision, { refuse: { code: 'too_many_free_events', of, retryAfterMs: waitMs(of, excess) } }, name)
      t.match(full.when(command).decision, { accept: [{}] }, `${name} for the operator`)
      t.match(almost.when(asOwner(command)).decision, { accept: [{}] }, `${name} before`)
      const laterMs = THEN_MS + waitMs(of, excess)
      t.match(full.when(asOwner(command), laterMs).decision, { accept: [{}] }, `${name} after the wait`)
    }
  })

  t.test(`${of}: a clock that is a little behind forgets nothing`, async t => {
    const behind = event(events.length + 1)
    const retryAfterMs = waitMs(of, excess + bytesOf(of, behind))
    const full = given(account, ...open, ...events, by(keyId(LIVE), THEN_MS - 30_000, behind))
    for (const command of Object.values(commands))
      t.match(full.when(asOwner(command)).decision, { refuse: { code: 'too_many_free_events', retryAfterMs } })
  })

  t.test(`${of}: events by others, and of a clock that was far ahead, count nothing`, async t => {
    const actor = { kind: 'operator', name: 'ada' }
    const byOperator = events.map(event => {
      const past = at(THEN_MS, event)
      return { ...past, metadata: { ...past.metadata, actor } }
    })
    for (const history of [byOperator, many(of, THEN_MS + 24 * HOUR_MS).events])
      for (const command of Object.values(commands))
        t.match(given(account, ...open, ...history).when(asOwner(command)).decision, { accept: [{}] })
  })

  t.test(`${of}: the other kinds have limits of their own`, async t => {
    const full = given(account, ...open, ...events)
    for (const [other, { commands }] of Object.entries(kinds))
      for (const command of Object.values(commands))
        t.equal(full.when(asOwner(command)).refusal, other === of ? 'too_many_free_events' : undefined)
  })
}

t.test('a key can be revoked and an upload deleted at any time', async t => {
  const { decision } = given(account, ...open, ...many('changes').events).when(asOwner(revokeKey(TEST)))
  t.match(decision, { accept: [{ type: 'ApiKeyRevoked' }] })
  given(account, ...open, ...many('uploads').events)
    .when(asOwner(requestUploadDeletion(1, LIVE)))
    .then(uploadDeletionRequested(1))
})

t.test('a revocation counts', async t => {
  const { state } = given(account, ...open, by(keyId(LIVE), THEN_MS, keyRevoked(TEST)))
  t.equal(state.freeBytes.changes.count, bytesOf('changes', keyRevoked(TEST)))
})

t.test('a paid run has no such limit, and a repeated test run gets its answer', async t => {
  const { events } = many('testRuns')
  const full = given(
    account,
    ...open,
    granted(100),
    by(keyId(TEST), THEN_MS, tested({ run: NEXT, key: 'a' })),
    ...events,
  )
  full.when(asOwner(queueRun({ run: NEXT + 1, key: 'a', askedWith: TEST }))).repeats(runId(NEXT))
  full.when(asOwner(queueRun({ run: NEXT + 1, askedWith: LIVE }))).then(...accepted({ run: NEXT + 1, after: 90 }))
  const paid = accepted({ metadata: { LONG }, after: 90 }).map(event => by(keyId(LIVE), THEN_MS, event))
  t.equal(given(account, ...open, granted(100), ...paid).state.freeBytes.testRuns.count, 0)
})

t.test('what honest clients do in an hour is far below the limits', async t => {
  const run = tested({ metadata: { text: 'x'.repeat(2048) } })
  t.ok(1000 * bytesOf('testRuns', run) < FREE_EVENTS.testRuns.limitBytes, 'a suite of 1,000 test runs of 2 KB')
  t.ok(3600 * bytesOf('uploads', uploadGranted()) < FREE_EVENTS.uploads.limitBytes, 'an upload each second')
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
