import t, { type Test } from 'tap'
import { findRepeat } from '../../../src/services/runs/idempotency.ts'
import { accountId, digest, keyId, openAccount, queueRun, runId } from '../../support/account-samples.ts'
import { accountsOn, openLog, openViews } from '../../support/engine.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { projectorOf, readsOf } from '../../support/views.ts'

const caller = { kind: 'service' } as const
const HOUR_MS = 60 * 60 * 1000

/** Two accounts that made a request under the key `a`, expired it with a fast clock, and set the clock back. */
const openForgetful = async (t: Test) => {
  const [log, views] = [await openLog(t), await openViews(t)]
  const clock = new ManualClock()
  const accounts = accountsOn(log, clock)
  const projector = projectorOf(log, views)
  t.teardown(() => projector.stop())
  await projector.start()
  const request = async (account: number, run: number, key: string) => {
    const command = queueRun({ run, key, credits: 1, hash: digest(`${account}`) })
    t.match(await accounts.execute(caller, accountId(account), command), { accept: Array })
  }
  for (const account of [1, 2]) {
    await accounts.execute(caller, accountId(account), openAccount({ account }))
    await request(account, account, 'a')
  }
  clock.advance(25 * HOUR_MS)
  for (const account of [1, 2]) await request(account, 10 + account, 'b')
  clock.advance(-24 * HOUR_MS)
  const parts = { accounts, reads: readsOf(views, projector.progress, accounts), clock }
  const owner = (account: number) =>
    ({ kind: 'key', accountId: accountId(account), keyId: keyId(), scope: 'full' }) as const
  return {
    accounts,
    clock,
    request,
    repeat: (account: number, hash = digest(`${account}`)) =>
      findRepeat(parts, owner(account), { key: 'a', requestHash: hash }),
  }
}

t.test('a request that the state dropped too early is found in the views', async t => {
  const { accounts, request, repeat } = await openForgetful(t)
  const { requests, hasDroppedEarly } = await accounts.state(accountId(1))
  t.same([[...requests.keys()], hasDroppedEarly], [['b'], false])
  t.match(await repeat(1), { repeatOf: runId(1) }, 'while the newest request is in the future')
  await request(1, 21, 'c')
  t.equal((await accounts.state(accountId(1))).hasDroppedEarly, true)
  t.match(await repeat(1), { repeatOf: runId(1) }, 'after a request at the present time')
})

t.test('a request that is found in the views expires after 24 hours', async t => {
  const { clock, repeat } = await openForgetful(t)
  clock.advance(23 * HOUR_MS - 1)
  t.match(await repeat(1), { repeatOf: runId(1) })
  clock.advance(1)
  t.equal(await repeat(1), undefined)
})

t.test('each account finds its own request under the same key', async t => {
  const { repeat } = await openForgetful(t)
  for (const account of [1, 2]) t.match(await repeat(account), { repeatOf: runId(account) })
  t.match(await repeat(1, digest('2')), { refuse: { code: 'idempotency_mismatch' } }, 'another request')
})
