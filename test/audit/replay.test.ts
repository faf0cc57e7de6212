import t from 'tap'
import type { RawEvent } from '../../schemas/recorded.ts'
import type { AsOf } from '../../src/audit/as-of.ts'
import { totalOf } from '../../src/audit/books.ts'
import { describeEvent } from '../../src/audit/describe-event.ts'
import { replayAccount } from '../../src/audit/replay.ts'
import { Damaged } from '../../src/ports/faults.ts'
import { busyLog } from '../support/busy-log.ts'
import { logOf } from '../support/log-of.ts'
import { seededRandom } from '../support/seeded-random.ts'

const events = await busyLog(t)
const log = logOf(events)
const accounts = [...new Set(events.map(({ stream }) => stream))]
  .filter(stream => stream.startsWith('account-'))
  .map(stream => stream.slice('account-'.length))
const historyOf = (account: string) => events.filter(({ stream }) => stream === `account-${account}`)
const dataOf = ({ data }: RawEvent) => data as Record<string, unknown>
const timeOf = ({ metadata }: RawEvent) => (metadata as { at: string }).at

/** The account after these events, by looking for each thing in all of them. */
const naively = (history: RawEvent[]) => {
  const of = (...types: string[]) => history.filter(({ type }) => types.includes(type)).map(dataOf)
  const ids = (name: string, ...types: string[]) => of(...types).map(data => data[name])
  const without = (all: unknown[], gone: unknown[]) => all.filter(id => !gone.includes(id))
  const sum = (type: string) => of(type).reduce((total, { amountMicros }) => total + Number(amountMicros), 0)
  const balances = history.filter(({ type }) => type.startsWith('Credits'))
  const asked = of('RunQueued', 'RunStarted').flatMap(({ runId, webhookUrl }) => (webhookUrl ? [runId] : []))
  const ended = ids('runId', 'RunCompleted', 'RunFailed')
  const last = history.at(-1) as RawEvent
  return {
    email: of('AccountOpened')[0]?.['email'],
    balanceMicros: balances.length > 0 ? dataOf(balances.at(-1) as RawEvent)['balanceAfterMicros'] : 0,
    sums: [
      'CreditsGranted',
      'CreditsWithdrawn',
      'CreditsDebited',
      'CreditsRefunded',
      'CreditsReleased',
      'CreditsExpired',
    ].map(sum),
    activeKeys: without(ids('keyId', 'ApiKeyCreated'), ids('keyId', 'ApiKeyRevoked')),
    openRuns: without(ids('runId', 'CreditsDebited'), ended),
    pendingWebhooks: without(
      asked.filter(run => ended.includes(run)),
      ids('runId', 'WebhookDelivered', 'WebhookAbandoned'),
    ).toSorted(),
    storedUploads: without([...new Set(ids('uploadId', 'UploadStored'))], ids('uploadId', 'UploadDeleted')),
    last: [last.revision, last.id],
  }
}

const replayed = async (account: string, asOf: AsOf) => {
  const { account: at } = await replayAccount(log, account, { asOf })
  return {
    email: at.opening?.email,
    balanceMicros: totalOf(at.balance),
    sums: Object.values(at.sums),
    activeKeys: at.keys.active().map(({ keyId }) => keyId),
    openRuns: at.openRuns().map(({ runId }) => runId),
    pendingWebhooks: at.webhooks
      .list()
      .map(({ runId }) => runId)
      .toSorted(),
    storedUploads: at.uploads.list().map(({ uploadId }) => uploadId),
    last: [at.last?.revision, at.last?.id],
  }
}

type Moment = [AsOf, (event: RawEvent) => boolean]

/** A random moment in the life of an account, and whether an event had happened by then. */
const momentOf = (history: RawEvent[], kind: number, below: (end: number) => number): Moment => {
  const [first, last] = [history[0], history.at(-1)] as [RawEvent, RawEvent]
  if (kind === 0) {
    const revision = below(history.length)
    return [{ revision }, event => event.revision <= revision]
  }
  if (kind === 1) {
    const position = first.position + below(last.position - first.position + 1)
    return [{ position }, event => event.position <= position]
  }
  const [fromMs, toMs] = [Date.parse(timeOf(first)), Date.parse(timeOf(last))]
  const at = new Date(fromMs + below(toMs - fromMs + 1)).toISOString()
  return [{ at }, event => timeOf(event) <= at]
}

t.test('the account at any moment is what all events until then say', async t => {
  const random = seededRandom(7)
  const below = (end: number) => Math.floor(random() * end)
  const differing: unknown[] = []
  const seen = { openRuns: 0, pendingWebhooks: 0, storedUploads: 0 }
  for (let round = 0; round < 1000; round++) {
    const account = accounts[below(accounts.length)] as string
    const history = historyOf(account)
    const [asOf, had] = momentOf(history, round % 3, below)
    const expected = naively(history.filter(had))
    const found = await replayed(account, asOf)
    if (JSON.stringify(found) !== JSON.stringify(expected)) differing.push({ account, asOf, found, expected })
    for (const name of ['openRuns', 'pendingWebhooks', 'storedUploads'] as const)
      if (found[name].length > 0) seen[name] += 1
  }
  t.same(differing.slice(0, 1), [])
  for (const [name, times] of Object.entries(seen)) t.ok(times > 0, `${name}: ${times}`)
})

const [account = ''] = accounts
const stream = `account-${account}`

t.test('every event of the account is replayed in order, with the balance after it', async t => {
  const found: unknown[] = []
  const { faults } = await replayAccount(log, account, {
    onEvent: ({ revision }, line, { balance }) => {
      found.push([revision, line && totalOf(line.change), totalOf(balance)])
    },
  })
  t.same(faults, [])
  let balance = 0
  const expected = historyOf(account).map(({ revision, data }) => {
    const { balanceAfterMicros } = data as { balanceAfterMicros?: number }
    const change = balanceAfterMicros === undefined ? undefined : balanceAfterMicros - balance
    balance = balanceAfterMicros ?? balance
    return [revision, change, balance]
  })
  t.same(found, expected)
})

t.test('each event is told in words that name what it is about', async t => {
  const told = new Map<string, string>()
  for (const each of accounts)
    await replayAccount(log, each, {
      onEvent: (event, _, { keys }) => {
        const words = describeEvent(event, keys)
        told.set(event.type, words)
        const [, id] = Object.entries(event.data).find(([name]) => /^(run|key|upload)Id$/.test(name)) ?? []
        t.ok(words.includes(String(id ?? '')), words)
        t.notMatch(words, /undefined|NaN|\[object/)
      },
    })
  t.match(told.get('CreditsWithdrawn'), 'purchase withdrawn: the payment is disputed (dp_2)')
  t.match(told.get('ApiKeyRevoked'), /^key_\w+ revoked: other \(…\w{4}\)$/)
  t.match(told.get('WebhookAttemptFailed'), /^run_\w+: webhook attempt 1 failed: The receiver answered with 410\.$/)
})

t.test('a time that went back, as in format 1, ends the history at the first event after the moment', async t => {
  const at = (event: RawEvent, time: string) => ({ ...event, metadata: { ...(event.metadata as object), at: time } })
  const [opened, granted, created] = historyOf(account) as [RawEvent, RawEvent, RawEvent]
  const times = ['2026-01-01T10:00:00.000Z', '2026-01-01T12:00:00.000Z', '2026-01-01T11:00:00.000Z'] as const
  const early = logOf([at(opened, times[0]), at(granted, times[1]), at(created, times[2])])
  const { account: found, next } = await replayAccount(early, account, { asOf: { at: times[2] } })
  t.equal(found.last?.revision, 0)
  t.equal(next?.revision, 1)
})

t.test('an event that is missing or was changed breaks the chain, which is reported', async t => {
  const queued = events.find(event => event.stream === stream && event.type === 'RunStarted') as RawEvent
  const { faults } = await replayAccount(logOf(events.filter(event => event !== queued)), account)
  t.match(faults, [{ stream, revision: queued.revision + 1, what: `revision ${queued.revision} is missing` }])
})

t.test('a history that does not add up is not replayed', async t => {
  const without = (type: string) => {
    const lost = events.find(event => event.stream === stream && event.type === type)
    return replayAccount(logOf(events.filter(event => event !== lost)), account)
  }
  await t.rejects(without('CreditsGranted'), Damaged)
  await t.rejects(without('AccountOpened'), { name: 'Damaged', message: /does not begin with its opening/ })
})

t.test('a log without the account has no events of it', async t => {
  const { account: found, next, head } = await replayAccount(log, 'acct_00000000000000000000000000')
  t.same([found.last, next, head], [undefined, undefined, events.at(-1)?.position])
})
