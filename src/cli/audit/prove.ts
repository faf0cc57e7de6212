import { writeFileSync } from 'node:fs'
import { Command } from 'commander'
import type { Proof } from '../../../schemas/proof.ts'
import { proveConsistency, proveInclusion } from '../../audit/proofs/inclusion.ts'
import { type NamedSeal, NoProof } from '../../audit/proofs/sealed-log.ts'
import { proveStatement } from '../../audit/proofs/statement.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { parseRunId } from '../../services/ids.ts'
import { parseNamedSeal } from '../arguments.ts'
import { OperatorError, UNABLE } from '../operator-error.ts'
import { progressReport, writeOut } from '../print.ts'
import { fileOption, withLog } from './with-log.ts'

interface Options {
  run?: string
  event?: string
  account?: string
  seals?: string[]
  at?: string
  from?: string
  to?: string
  output?: string
  file?: string
}

export const proveCommand = (): Command =>
  new Command('prove')
    .description(
      'prove an event, all events of an account, or that one seal extends another, to people without the log',
    )
    .option('--run <run>', 'prove the debit of this run, with its receipt')
    .option('--event <id>', 'prove this event')
    .option('--account <account>', 'prove all events of this account')
    .option('--seals <seals...>', 'prove that the second of these two seals extends the first')
    .option('--at <seal>', 'seal that covers the run or event (default: the newest seal)')
    .option('--from <seal>', 'seal after which the events of the account begin (default: at the first event)')
    .option('--to <seal>', 'seal up to which the events of the account are proved (default: the newest seal)')
    .option('--output <path>', 'write the proof to this file (default: standard output)')
    .addOption(fileOption())
    .action(async (options: Options) => {
      const prove = toProver(options)
      const proof = await withLog(options, log => explained(() => prove(log.log)))
      const text = `${JSON.stringify(proof)}\n`
      if (options.output === undefined) await writeOut([text], 'proof')
      else write(options.output, text)
    })

type Prover = (log: ReadableLog) => Promise<Proof>

const toProver = ({ run, event, account, seals, ...places }: Options): Prover => {
  if ([run, event, account, seals].filter(each => each !== undefined).length !== 1) throw new OperatorError(ONE, UNABLE)
  const onProgress = progressReport('read')
  const [at, from, to] = (['at', 'from', 'to'] as const).map(name => named(`--${name}`, places[name]))
  const isStatement = account !== undefined
  if (at && (isStatement || seals)) throw new OperatorError('--at needs --run or --event.', UNABLE)
  if ((from || to) && !isStatement) throw new OperatorError('--from and --to need --account.', UNABLE)
  if (isStatement) return log => proveStatement(log, account, { from, to, onProgress })
  if (seals) {
    const [earlier, later, ...others] = seals.map(text => named('--seals', text) as NamedSeal)
    if (!earlier || !later || others.length > 0) throw new OperatorError('--seals needs two seals.', UNABLE)
    return log => proveConsistency(log, earlier, later)
  }
  if (event !== undefined) return log => proveInclusion(log, { eventId: event }, { at, onProgress })
  const runId = parseRunId(run as string)
  if (!runId) throw new OperatorError('--run must be an ID such as run_01m820bnqkfvgrrkb8dhy3yd82.', UNABLE)
  return log => proveInclusion(log, { runId }, { at, onProgress })
}

const ONE = 'Name what to prove: one of --run, --event, --account and --seals.'

const named = (option: string, text: string | undefined): NamedSeal | undefined =>
  text === undefined ? undefined : parseNamedSeal(option, text)

const explained = async <Result>(prove: () => Promise<Result>): Promise<Result> => {
  try {
    return await prove()
  } catch (error) {
    throw error instanceof NoProof ? new OperatorError(error.message, UNABLE) : error
  }
}

const write = (path: string, text: string) => {
  try {
    writeFileSync(path, text)
  } catch (error) {
    throw new OperatorError(`The proof cannot be written: ${(error as Error).message}.`, UNABLE)
  }
}
