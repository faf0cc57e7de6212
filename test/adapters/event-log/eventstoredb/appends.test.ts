import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openEventStoreLog } from '../../../../src/adapters/event-log/eventstoredb.ts'
import { BEFORE_FIRST, type NewEvent, NO_STREAM, RevisionConflict } from '../../../../src/ports/event-log.ts'
import { Unavailable } from '../../../../src/ports/faults.ts'
import { accountId, grantCredits, openAccount } from '../../../support/account-samples.ts'
import { collect } from '../../../support/collect.ts'
import { accountsOn, openLog } from '../../../support/engine.ts'
import { type AppendFate, type Faults, notReady, timedOut } from '../../../support/event-store/faults.ts'
import { startEventStoreServer } from '../../../support/event-store/server.ts'
import { eventStoreAt } from '../../../support/store-addresses.ts'
import { isLong } from '../../../support/test-length.ts'
import { until } from '../../../support/until.ts'

/** A faulty server, the log over it, and its embedded log, which never fails. */
const open = async (t: Test, faults: Faults, appendTimeoutMs: number) => {
  const stored = await openLog(t)
  const server = await startEventStoreServer({ log: stored, faults })
  const log = openEventStoreLog({ address: eventStoreAt(server.url), appendTimeoutMs })
  t.teardown(() => server.close())
  t.teardown(() => log.close())
  return { stored, server, log }
}

/** Breaking a connection affects all appends on it; the other faults affect one append. */
const MISHAPS: AppendFate[] = [
  ...(['broken after', 'broken after', 'broken before', 'unanswered', 'unheard'] as const),
  ...[{ afterMs: 400 }, { refuse: timedOut() }, { refuse: notReady() }],
]
const APPEND_TIMEOUT_MS = 250

/** Makes a share of the appends fail, each differently. */
const oneIn = (count: number) => (): AppendFate | undefined =>
  Math.random() * count < 1 ? MISHAPS[Math.floor(Math.random() * MISHAPS.length)] : undefined

t.test('many appends with randomly lost responses: none is lost, doubled or misreported', async t => {
  const [STREAMS, APPENDS] = isLong ? [50, 200] : [20, 20]
  const { stored, log } = await open(t, { append: oneIn(APPENDS / 2) }, APPEND_TIMEOUT_MS)
  const [reported, refused]: [Set<string>, Set<string>] = [new Set(), new Set()]
  let repeated = 0

  /** Retries until the outcome is known. If the events were certainly not written, appends others instead. */
  const settle = async (stream: string, events: NewEvent[], revision: number): Promise<'written' | 'not written'> => {
    let isOpen = false
    const attempt = async () => {
      try {
        const { revision: reached } = await log.append(stream, events, revision)
        if (reached !== revision + events.length) throw new TypeError(`${stream} does not end at ${reached}`)
        return 'written'
      } catch (error) {
        if (error instanceof RevisionConflict) {
          const found = await collect(stored.readStream(stream, revision + 1))
          if (isOpen && events.every(({ id }, index) => found[index]?.id === id)) return 'written'
          throw new TypeError('a conflict without another writer', { cause: error })
        }
        if (error instanceof TypeError) throw error
        if (error instanceof Unavailable && !isOpen) return 'not written'
        isOpen ||= !(error instanceof Unavailable)
        repeated += 1
        return undefined
      }
    }
    return until('the outcome of an append is known', attempt, { pollMs: 10 })
  }

  const writer = async (stream: string) => {
    let revision = NO_STREAM
    for (let append = 0; append < APPENDS; append++) {
      const events = newEvents(1 + (append % 3))
      const written = (await settle(stream, events, revision)) === 'written'
      for (const { id } of events) (written ? reported : refused).add(id)
      if (written) revision += events.length
    }
  }
  await Promise.all(Array.from({ length: STREAMS }, (_, index) => writer(`account-${index}`)))

  // A delayed append may still arrive.
  await delay(500)
  const ids = (await collect(stored.readAll(BEFORE_FIRST))).map(({ id }) => id)
  t.equal(new Set(ids).size, ids.length, 'nothing is doubled')
  t.same(new Set(ids), reported, 'exactly the reported events are there')
  t.notOk(ids.some(id => refused.has(id)))
  t.ok(repeated > STREAMS, 'many responses were lost')
})

t.test('many commands through the mailboxes with randomly lost responses: each takes effect once', async t => {
  const [ACCOUNTS, COMMANDS] = [50, isLong ? 200 : 15]
  const faults: Faults = {}
  const { stored, log } = await open(t, faults, APPEND_TIMEOUT_MS)
  const accounts = accountsOn(log)
  const grants = new Map<string, 'granted' | 'open'>()
  const grant = async (account: number, requestId: string) => {
    try {
      const outcome = await accounts.execute(caller(requestId), accountId(account), grantCredits(1))
      if ('refuse' in outcome) throw new TypeError(outcome.refuse.code)
      grants.set(requestId, 'granted')
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      if (/it is unknown whether/.test(error.message)) grants.set(requestId, 'open')
    }
  }
  const numbers = Array.from({ length: ACCOUNTS }, (_, index) => index + 1)
  const begin = (account: number) =>
    accounts.execute(caller('opening'), accountId(account), openAccount({ account, welcome: 0 }))
  // No response is lost before all accounts are open.
  await Promise.all(numbers.map(begin))
  faults.append = oneIn(COMMANDS)
  const life = async (account: number) => {
    for (let command = 0; command < COMMANDS; command++) await grant(account, `${account}-${command}`)
  }
  await Promise.all(numbers.map(life))

  await delay(500)
  const all = (await collect(stored.readAll(BEFORE_FIRST))).filter(({ type }) => type === 'CreditsGranted')
  const requests = all.map(({ metadata }) => (metadata as { requestId: string }).requestId)
  t.equal(new Set(requests).size, requests.length, 'nothing takes effect twice')
  t.same(
    requests.filter(request => !grants.has(request) && request !== 'opening'),
    [],
    'unwritten appends do not exist',
  )
  const there = new Set(requests)
  t.same(
    [...grants].filter(([request, outcome]) => outcome === 'granted' && !there.has(request)),
    [],
    'confirmed appends exist',
  )
  t.ok(grants.size > 0.9 * ACCOUNTS * COMMANDS)
  faults.append = undefined
  const balances = await Promise.all(
    Array.from({ length: ACCOUNTS }, (_, index) => accountsOn(log).state(accountId(index + 1))),
  )
  t.equal(
    balances.reduce((sum, { balanceMicros }) => sum + balanceMicros, 0),
    all.length * 1_000_000,
  )
})

t.test('an append that lands after an unsuccessful look-up is still resolved', async t => {
  const fates: (AppendFate | undefined)[] = [{ afterMs: 400 }]
  const { log, stored } = await open(t, { append: () => fates.shift() }, 100)
  const events = newEvents(2)
  await t.rejects(log.append('account-1', events, NO_STREAM), /did not answer an append within 100 ms/)
  t.same(await collect(log.readStream('account-1', 0)), [], 'it is not there yet')
  const again = await log.append('account-1', events, NO_STREAM)
  t.equal(again.revision, 1)
  await delay(600)
  t.same(
    (await collect(stored.readAll(BEFORE_FIRST))).map(({ id }) => id),
    events.map(({ id }) => id),
  )

  fates.push({ afterMs: 400 })
  const late = newEvents(1)
  await t.rejects(log.append('account-1', late, 1))
  await log.append('account-1', newEvents(1), 1)
  await delay(600)
  await t.rejects(
    log.append('account-1', late, 1),
    RevisionConflict,
    'another append came first, so this one never lands',
  )
  t.equal((await collect(stored.readAll(BEFORE_FIRST))).length, 3)
})

t.test('an append to a stream waits for the previous one, whatever order the server uses', async t => {
  const fates: (AppendFate | undefined)[] = [{ afterMs: 200 }, undefined, { afterMs: 100 }]
  const { log } = await open(t, { append: () => fates.shift() }, 2000)
  const appends = [0, 1, 2, 3].map(index => log.append('account-1', newEvents(1), index - 1))
  t.same(
    (await Promise.all(appends)).map(({ revision }) => revision),
    [0, 1, 2, 3],
  )
})

t.test('the position of repeated events is read if the server does not return it', async t => {
  const { log, server } = await open(t, { hidesPositionOfRepeated: true }, 1000)
  const events = newEvents(3)
  const appended = await log.append('account-1', events, NO_STREAM)
  t.same(await log.append('account-1', events, NO_STREAM), appended)

  server.faults.read = () => ({ refuse: notReady() })
  const failure = await log.append('account-1', events, NO_STREAM).catch(error => error)
  t.match(failure, { message: /accepted an append to account-1, but its position could not be read/ })
  t.notOk(failure instanceof Unavailable, 'it is written nevertheless')
})

const caller = (requestId: string) => ({ kind: 'operator', name: 'test', requestId }) as const

const newEvents = (count: number): NewEvent[] =>
  Array.from({ length: count }, () => ({ id: crypto.randomUUID(), type: 'SomethingHappened', data: {}, metadata: {} }))
