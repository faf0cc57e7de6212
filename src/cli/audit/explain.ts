import { Command } from 'commander'
import { explainRun } from '../../audit/explain/explain.ts'
import { parseRunId } from '../../services/ids.ts'
import { OperatorError, UNABLE } from '../operator-error.ts'
import { progressReport } from '../print.ts'
import { explanationToJson } from './explanation-json.ts'
import { explanationToText } from './explanation-text.ts'
import { fileOption, withDecryptedLog } from './with-log.ts'

export const explainCommand = (): Command =>
  new Command('explain')
    .argument('<run>')
    .description('show the whole history of a run: request, price, credits, steps, result, refunds, webhook and events')
    .addOption(fileOption())
    .option('--json', 'print JSON')
    .action(async (run: string, options: { file?: string; json?: boolean }) => {
      const runId = parseRunId(run)
      if (!runId) throw new OperatorError(NO_RUN, UNABLE)
      const explanation = await withDecryptedLog(options, ({ log }) => explainRun(log, runId, progressReport('read')))
      if (!explanation) throw new OperatorError(`The log has no run ${runId}.`, UNABLE)
      console.log(options.json ? JSON.stringify(explanationToJson(explanation)) : explanationToText(explanation))
    })

const NO_RUN = 'The run must be an ID such as run_01m820bnqkfvgrrkb8dhy3yd82, or the UUID form of the ID.'
