import { Command, Option } from 'commander'
import { providerNames } from '../../../schemas/binding.ts'
import { Slug } from '../../../schemas/primitives.ts'
import { type CostLine, providerStatement } from '../../audit/costs/provider-statement.ts'
import { compileGuard } from '../../engine/log/guard.ts'
import { fileOption, UNABLE, withLog } from '../audit/with-log.ts'
import { writeOut } from '../audit/write-out.ts'
import { OperatorError } from '../operator-error.ts'
import { progressReport } from '../progress.ts'
import { costPeriod, FROM, TO } from './cost-period.ts'
import { statementToCsv, statementToJson, statementToText } from './statement-forms.ts'

const FORMS = { text: statementToText, csv: statementToCsv, json: statementToJson } satisfies Record<
  string,
  (lines: AsyncIterable<CostLine[]>, provider: string) => AsyncIterable<string>
>

export const statementCommand = (): Command =>
  new Command('statement')
    .argument('<provider>')
    .description('list the runs that a provider charges for, to check its invoice; exits with 2 on errors')
    .option('--from <time>', FROM)
    .option('--to <time>', TO)
    .addOption(new Option('--format <format>', 'output format').choices(Object.keys(FORMS)).default('text'))
    .option('--json', 'print JSON, as with --format json')
    .addOption(fileOption())
    .action(async (provider: string, options) => {
      if (!isProvider(provider)) throw new OperatorError(`The provider must have a name such as ${KNOWN}.`, UNABLE)
      const period = costPeriod(options)
      const form = FORMS[(options.json ? 'json' : options.format) as keyof typeof FORMS]
      // On a terminal that also shows the statement, progress would stand among its lines.
      const onProgress = process.stderr.isTTY && !process.stdout.isTTY ? progressReport('read') : undefined
      await withLog(options, ({ log }) =>
        writeOut(form(providerStatement(log, { provider, ...period, onProgress }), provider), 'statement'),
      )
    })

const isProvider = compileGuard(Slug)

const KNOWN = providerNames.join(', ')
