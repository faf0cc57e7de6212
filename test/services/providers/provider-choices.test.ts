import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { PROVIDERS_STREAM } from '../../../schemas/events.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { ProviderChoices } from '../../../src/services/providers/provider-choices.ts'
import { collect } from '../../support/collect.ts'
import { ambient, openLog } from '../../support/engine.ts'
import { until } from '../../support/until.ts'

const operator = { kind: 'operator', name: 'Ada' } as const
const set = (enabled: boolean) => ({ type: 'SetProvider', provider: 'fal', enabled }) as const

const start = (t: Test, log: EventLog) => {
  const choices = new ProviderChoices({ log, ...ambient() })
  choices.start()
  t.teardown(() => choices.stop())
  return { choices, isDisabled: () => choices.known.disabledProviders.has('fal') }
}

t.test('a choice of another process is soon known, and is recorded with the operator', async t => {
  const log = await openLog(t)
  const { isDisabled } = start(t, log)
  const other = new ProviderChoices({ log, ...ambient() })
  t.same(await other.execute(operator, set(false)), { isChange: true })
  await until('the choice is known', isDisabled)
  t.same(await other.execute(operator, set(false)), { isChange: false })
  await other.execute(operator, set(true))
  await until('the other choice is known', () => !isDisabled())
  const events = await collect(log.readStream(PROVIDERS_STREAM, 0))
  t.match(events, [
    { type: 'ProviderDisabled', data: { provider: 'fal' }, metadata: { actor: operator } },
    { type: 'ProviderEnabled' },
  ])
  t.equal(events.length, 2)
})

t.test('a wait that an operator ends is emitted once in every process that knows the choices', async t => {
  const log = await openLog(t)
  const other = new ProviderChoices({ log, ...ambient() })
  const endWait = (account: string) => other.execute(operator, { type: 'EndWait', provider: 'fal', account })
  await endWait('before')
  const { choices, isDisabled } = start(t, log)
  await choices.load()
  const ended: unknown[] = []
  choices.endedWaits.subscribe(({ provider, account }) => ended.push(`${provider} ${account}`))
  await endWait('a')
  await until('it is emitted', () => ended.length > 0)
  await endWait('a')
  await until('it is emitted again', () => ended.length > 1)
  await other.execute(operator, set(false))
  await until('a later choice is known', isDisabled)
  t.same(ended, ['fal a', 'fal a'])
})

t.test('while the log is unavailable, the last known choices stand', async t => {
  const log = await openLog(t)
  let reads = 0
  let isAway = false
  const faulty: EventLog = {
    ...log,
    readStream: (...range) => {
      reads += 1
      if (isAway) throw new Unavailable('the log is away')
      return log.readStream(...range)
    },
  }
  const { choices, isDisabled } = start(t, faulty)
  const other = new ProviderChoices({ log, ...ambient() })
  await other.execute(operator, set(false))
  await choices.load()
  t.ok(isDisabled())
  isAway = true
  await other.execute(operator, set(true))
  const before = reads
  await until('it has tried twice', () => reads > before + 1)
  await delay(0)
  t.ok(isDisabled())
  isAway = false
  await until('the choice is known', () => !isDisabled())
})
