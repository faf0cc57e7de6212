import { Command, Option } from 'commander'
import { EXPORT_FORMATS, exportLog, hasAccount } from '../../audit/export/export-log.ts'
import { OperatorError, UNABLE } from '../operator-error.ts'
import { progressReport, writeOut } from '../print.ts'
import { fileOption, withLog } from './with-log.ts'

export const exportCommand = (): Command =>
  new Command('export')
    .argument('[account]')
    .description('export the whole log, or one account, for other programs; exits with 2 on errors')
    .addOption(new Option('--format <format>', 'output format').choices(EXPORT_FORMATS).default('jsonl'))
    .addOption(fileOption())
    .action((account, options) =>
      withLog(options, async ({ log }) => {
        if (account !== undefined && !(await hasAccount(log, account)))
          throw new OperatorError(`The log has no account ${account}.`, UNABLE)
        // On a terminal, progress would mix with the lines of the export.
        const onProgress = process.stderr.isTTY && !process.stdout.isTTY ? progressReport('exported') : undefined
        await writeOut(exportLog(log, { format: options.format, account, onProgress }))
      }),
    )
