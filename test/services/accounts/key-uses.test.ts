import t from 'tap'
import { accountStream } from '../../../schemas/events.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import type { AccountMailboxes } from '../../../src/services/accounts/account-mailboxes.ts'
import { KeyUses } from '../../../src/services/accounts/key-uses.ts'
import { accountId, createKey, keyId, openAccount } from '../../support/account-samples.ts'
import { collect } from '../../support/collect.ts'
import { accountsOn, openLog, silentLogger } from '../../support/engine.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const operator = { kind: 'operator', name: 'test' } as const
const holder = (key: number) => ({ kind: 'key', accountId: accountId(), keyId: keyId(key), scope: 'full' }) as const

const log = await openLog(t)
const clock = new ManualClock()
const accounts = accountsOn(log, clock)
await accounts.execute(operator, accountId(), openAccount())
for (let key = 1; key <= 30; key++) await accounts.execute(operator, accountId(), createKey(key))

const uses = async (key: number) =>
  (await collect(log.readStream(accountStream(accountId()), 0))).filter(
    ({ type, data }) => type === 'ApiKeyUsed' && (data as { keyId: string }).keyId === keyId(key),
  ).length

t.test('a use is recorded once a day, by whichever process', async t => {
  const [one, other] = [
    new KeyUses({ accounts, clock, logger: silentLogger }),
    new KeyUses({ accounts: accountsOn(log, clock), clock, logger: silentLogger }),
  ]
  for (let day = 1; day <= 3; day++) {
    for (let request = 0; request < 20; request++) {
      one.note(holder(1))
      other.note(holder(1))
    }
    await Promise.all([one.settled(), other.settled()])
    t.equal(await uses(1), day)
    clock.advance(DAY_MS)
  }
})

t.test('a clock that is set back records no day twice, and goes on after a far jump', async t => {
  const keyUses = () => new KeyUses({ accounts, clock, logger: silentLogger })
  const note = async () => {
    const uses = keyUses()
    uses.note(holder(2))
    await uses.settled()
  }
  await note()
  clock.advance(-60_000)
  await note()
  t.equal(await uses(2), 1)
  clock.advance(400 * DAY_MS)
  await note()
  clock.advance(-400 * DAY_MS + DAY_MS)
  await note()
  t.equal(await uses(2), 3)
})

/** Accounts that count the commands, and answer them when the test lets them. */
const held = () => {
  const waiting: ((error?: Error) => void)[] = []
  const stub = {
    recentState: (id: ReturnType<typeof accountId>) => accounts.recentState(id),
    execute: () =>
      new Promise((resolve, reject) => {
        waiting.push(error => (error ? reject(error) : resolve({ accept: [], position: 0 })))
      }),
  } as unknown as AccountMailboxes
  return { waiting, stub }
}

const turn = () => new Promise(resolve => setImmediate(resolve))

t.test('few uses are recorded at a time, and none waits in a queue', async t => {
  const { waiting, stub } = held()
  const keyUses = new KeyUses({ accounts: stub, clock, logger: silentLogger })
  for (let round = 0; round < 3; round++) for (let key = 3; key <= 30; key++) keyUses.note(holder(key))
  await turn()
  t.equal(waiting.length, 8)
  for (const end of waiting.splice(0)) end()
  await keyUses.settled()
  t.equal(waiting.length, 0)
  for (let key = 3; key <= 30; key++) keyUses.note(holder(key))
  await turn()
  t.equal(waiting.length, 8, 'the next ones are recorded when they are used again')
  for (const end of waiting) end()
  await keyUses.settled()
})

t.test('after a failure, nothing is recorded for a while, and the failure is told once', async t => {
  const { waiting, stub } = held()
  const told: string[] = []
  let monotonicMs = 0
  const timed = { ...clock, nowMs: () => clock.nowMs(), monotonicMs: () => monotonicMs, timer: clock.timer }
  const logger = { ...silentLogger, warn: (_: object, message: string) => told.push(message) }
  const keyUses = new KeyUses({ accounts: stub, clock: timed, logger })
  keyUses.note(holder(3))
  await turn()
  waiting.pop()?.(new Unavailable('the log is away'))
  await keyUses.settled()
  for (let request = 0; request < 100; request++) keyUses.note(holder(3))
  await turn()
  t.equal(waiting.length, 0)
  t.equal(told.length, 1)
  monotonicMs = 60_000
  keyUses.note(holder(3))
  await turn()
  t.equal(waiting.length, 1)
  waiting.pop()?.()
  await keyUses.settled()
})
