import { Command } from 'commander'
import { Period } from '../../schemas/period-events.ts'
import { compileGuard } from '../engine/log/guard.ts'
import type { ClosedPeriods } from '../services/periods/periods.ts'
import { operatorOf } from './operator.ts'
import { OperatorError } from './operator-error.ts'
import { printMany, printOne } from './print.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

export const periodCommand = (): Command => {
  const command = new Command('period').description('close months, so that their statements never change')

  command
    .command('close <month>')
    .description(
      'closes a month in UTC, such as 2026-11, and the open months before it, with a seal that a process with the ' +
        'role sealer makes at once; what arrives later belongs to later months',
    )
    .option('--json', 'print JSON')
    .action(async (month, options, command) => {
      const caller = operatorOf(command)
      if (!isPeriod(month)) throw new OperatorError('The period must be a month such as 2026-11.')
      await withCore(async ({ services }) => {
        const closed = unwrap(await services.periods.close(caller, month))
        printOne(show(closed), options)
        if (closed.from < closed.period && !options.json)
          console.log(`The months from ${closed.from} on were open, and are closed together with ${closed.period}.`)
      })
    })

  command
    .command('list')
    .description('lists the closed months, with the seals that tell which events belong to them')
    .option('--json', 'print JSON')
    .action(async (options, command) => {
      const caller = operatorOf(command)
      const closed = await withCore(async ({ services }) => unwrap(await services.periods.list(caller)))
      printMany(closed.map(show), options, NONE_CLOSED)
    })

  return command
}

const NONE_CLOSED =
  'No month is closed yet; "tollgate period close 2026-11" closes November of 2026 as soon as it is over.'

const isPeriod = compileGuard(Period)

const show = ({ from, period, seal, sealName, at }: ClosedPeriods) => ({
  from,
  to: period,
  seal: sealName,
  sealed_events: seal.events,
  closed_at: at,
})
