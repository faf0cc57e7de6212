import { Command } from 'commander'
import { Period } from '../../schemas/period-events.ts'
import { compileGuard } from '../engine/log/codec.ts'
import type { ClosedPeriods } from '../services/ledger/periods.ts'
import { operatorOf } from './operator.ts'
import { OperatorError } from './operator-error.ts'
import { printMany, printOne } from './print.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

export const periodCommand = (): Command => {
  const command = new Command('period')

  command
    .command('close <month>')
    .description(
      'close a month in UTC, such as 2026-11, and all open months before it; later events belong to later months; ' +
        'a process with the role sealer must be running',
    )
    .option('--json', 'print JSON')
    .action(async (month, options, command) => {
      const caller = operatorOf(command)
      if (!isPeriod(month)) throw new OperatorError('The period must be a month such as 2026-11.')
      await withCore(async ({ services }) => {
        const closed = unwrap(await services.periods.close(caller, month))
        printOne(show(closed), options)
        if (closed.from < closed.period && !options.json)
          console.log(`The months from ${closed.from} to ${closed.period} were closed together.`)
      })
    })

  command
    .command('list')
    .description('list closed months with the seals that define which events belong to each month')
    .option('--json', 'print JSON')
    .action(async (options, command) => {
      const caller = operatorOf(command)
      const closed = await withCore(async ({ services }) => unwrap(await services.periods.list(caller)))
      printMany(closed.map(show), options, NONE_CLOSED)
    })

  return command
}

const NONE_CLOSED =
  'No month is closed yet. "tollgate period close 2026-11" closes November 2026, once the month is over.'

const isPeriod = compileGuard(Period)

const show = ({ from, period, seal, sealName, at }: ClosedPeriods) => ({
  from,
  to: period,
  seal: sealName,
  sealed_events: seal.events,
  closed_at: at,
})
