import t from 'tap'
import type { AccountCommand } from '../../../src/domain/account/commands.ts'
import { MAX_OWN_FAILURES } from '../../../src/domain/account/limits.ts'
import { accountId, failRun, openAccount, queueRun } from '../../support/account-samples.ts'
import { accountsOn, openLog } from '../../support/engine.ts'
import { ManualClock } from '../../support/manual-clock.ts'

t.test('failures in one process count in another that has not read them', async t => {
  const log = await openLog(t)
  const clock = new ManualClock()
  const [one, other] = [accountsOn(log, clock), accountsOn(log, clock)]
  const caller = { kind: 'service' } as const
  const send = (accounts: typeof one, command: AccountCommand) => accounts.execute(caller, accountId(), command)
  await send(one, openAccount())
  await send(other, queueRun({ run: 1000, credits: 1 }))
  for (let run = 1; run <= MAX_OWN_FAILURES; run++)
    await Promise.all([send(one, queueRun({ run })), send(one, failRun(run, 'invalid_input'))])
  t.match(await send(other, queueRun({ run: 1001, credits: 1 })), {
    refuse: { code: 'too_many_failures', retryAfterMs: 1 },
  })
})
