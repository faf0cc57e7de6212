import { Command, InvalidArgumentError } from 'commander'
import { type AsOf, parseAsOf } from '../../audit/as-of.ts'
import { type Replay, replayAccount } from '../../audit/replay.ts'
import { isAccountId } from '../../services/ids.ts'
import { OperatorError, UNABLE } from '../operator-error.ts'
import { progressReport } from '../print.ts'
import { accountToJson } from './account-json.ts'
import { accountToText } from './account-text.ts'
import { HistoryPrinter } from './history.ts'
import { chainToText } from './text.ts'
import { fileOption, withDecryptedLog } from './with-log.ts'

export const replayCommand = (): Command =>
  new Command('replay')
    .argument('<account>')
    .description('show the history of an account with the balance after each event, or the account at a moment')
    .option(
      '--at <moment>',
      'show the account at this moment, inclusive: a time such as 2026-11-23T10:00:00Z, a date (the start of the day ' +
        'in UTC), a revision of the account such as 12, or a position of the log such as position:345',
      parseMoment,
    )
    .addOption(fileOption())
    .option('--json', 'print JSON')
    .action(async (account, { at: asOf, ...options }: Options) => {
      if (!isAccountId(account)) throw new OperatorError(NO_ACCOUNT, UNABLE)
      await withDecryptedLog(options, async ({ log }) => {
        const printer = asOf ? undefined : new HistoryPrinter(account, options)
        const replay = await replayAccount(log, account, {
          asOf,
          onEvent: (...event) => printer?.take(...event),
          onProgress: progressReport('read'),
        }).finally(() => printer?.flush())
        checkMoment(account, replay, asOf)
        if (printer) return printer.end(replay)
        if (options.json) return console.log(JSON.stringify(accountToJson(replay, asOf as AsOf)))
        console.log([accountToText(replay.account), ...chainToText(replay.faults, account)].join('\n\n'))
      })
    })

interface Options {
  at?: AsOf
  file?: string
  json?: boolean
}

const NO_ACCOUNT =
  'The account must be an ID such as acct_01m820b9ztfvgrrk74p12fwn4g; "tollgate accounts list" shows them.'

const parseMoment = (text: string): AsOf => {
  const asOf = parseAsOf(text)
  if (!asOf)
    throw new InvalidArgumentError(
      'The moment must be a date, a time with a zone such as 2026-11-23T10:00:00Z, a revision, or position:NUMBER.',
    )
  return asOf
}

/** Throws OperatorError for a moment before the account was opened, or after the end of the log. */
const checkMoment = (accountId: string, { account, next, head }: Replay, asOf: AsOf | undefined) => {
  const { last } = account
  if (!last && !next) throw new OperatorError(`The log has no account ${accountId}.`, UNABLE)
  if (!last)
    throw new OperatorError(
      `${accountId} was opened later, at ${next?.metadata.at}, position ${next?.position}.`,
      UNABLE,
    )
  if (asOf && 'revision' in asOf && asOf.revision > last.revision)
    throw new OperatorError(`The newest revision of ${accountId} is ${last.revision}.`, UNABLE)
  if (asOf && 'position' in asOf && asOf.position > head)
    throw new OperatorError(`The newest position of the log is ${head}.`, UNABLE)
}
