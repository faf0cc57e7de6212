import { accountIn } from '../../../schemas/events.ts'
import { makeStatement } from '../../../src/audit/statement/statement.ts'
import { statementToCsv } from '../../../src/cli/audit/statement/csv.ts'
import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import { operator } from './callers.ts'
import { outcomeOf } from './outcome.ts'
import type { World } from './world.ts'

/** The month in which worlds begin. It is over once the retention of all files is. */
const MONTH = '2026-01'
const PERIOD = { from: '2026-01-01T00:00:00.000Z', to: '2026-02-01T00:00:00.000Z', zone: 'UTC' }

/** Of all processes that close the month at once, one succeeds. Whatever comes later, its statements stay the same. */
export const expectClosedMonth = async (world: World, live: () => Promise<void>) => {
  const running = world.processes.flatMap(process => process.running ?? [])
  const told = await Promise.all(running.map(({ services }) => services.periods.close(operator, MONTH)))
  const outcomes = told.map(outcomeOf).toSorted()
  for (const outcome of outcomes) world.count(`closePeriod ${outcome}`)
  if (outcomes.join() !== ['ok', ...outcomes.slice(1).map(() => 'period_closed')].join())
    world.violation(`the processes that close a month get ${outcomes}`)
  const before = await statementsIn(world)
  await live()
  const after = await statementsIn(world)
  for (const [account, statement] of before)
    if (after.get(account) !== statement) world.violation(`the closed statement of ${account} has changed`)
}

/** The statement of each account about the closed month. */
const statementsIn = async ({ log, violation }: World): Promise<Map<string, string>> => {
  const statements = new Map<string, string>()
  for await (const page of log.readAll(BEFORE_FIRST))
    for (const { stream, revision } of page) {
      const account = revision === 0 ? accountIn(stream) : undefined
      if (account !== undefined) statements.set(account, '')
    }
  for (const account of statements.keys()) {
    const made = await makeStatement(log, { account, period: PERIOD })
    if (made && 'lines' in made && made.closed) statements.set(account, [...statementToCsv(made)].join(''))
    else violation(`${account} has no statement of the closed month: ${made && 'fault' in made && made.fault}`)
  }
  return statements
}
