import { Command } from 'commander'
import { openExportedLog } from '../audit/exported-log.ts'
import type { Fault } from '../audit/fault.ts'
import { type Verification, verifyLog } from '../audit/verify/verify.ts'
import { readConfig } from '../boot/config.ts'
import { explainFailure } from '../boot/failure.ts'
import { openLogReadOnly } from '../boot/stores.ts'
import type { ReadableLog } from '../ports/event-log.ts'
import { OperatorError } from './operator-error.ts'
import { progressReport } from './progress.ts'

/** The exit codes of checks: something is wrong, or it was not possible to look. */
const WRONG = 1
const UNABLE = 2

export const auditCommand = (): Command => {
  const command = new Command('audit').description('check the event log, without writing anything')

  command
    .command('verify [account]')
    .description(
      'checks the whole log, or one account; exits with 1 if something is wrong, and with 2 if it cannot look',
    )
    .option('--file <path>', 'an exported log instead of the one that the environment names')
    .option('--json', 'print JSON')
    .action(async (account, options) => {
      const verification = await withLog(options, ({ log, isDense }) =>
        verifyLog(log, { account, isDense, onProgress: progressReport('checked') }),
      )
      if (!verification) throw new OperatorError(`The log has no account ${account}.`, UNABLE)
      if (options.json) console.log(JSON.stringify(toJson(verification)))
      else console.log(toText(verification))
      if (verification.faults.length > 0) process.exitCode = WRONG
    })

  return command
}

const withLog = async <Result>(
  { file }: { file?: string },
  look: (opened: { log: ReadableLog; isDense: boolean }) => Promise<Result>,
): Promise<Result> => {
  try {
    const opened = file
      ? { log: openExportedLog(file), isDense: false }
      : await openLogReadOnly(readConfig(process.env))
    try {
      return await look(opened)
    } finally {
      await opened.log.close()
    }
  } catch (error) {
    throw new OperatorError(error instanceof OperatorError ? error.message : explainFailure(error), UNABLE)
  }
}

const toJson = ({ head, events, streams, newestAt, faults, notes }: Verification) => ({
  valid: faults.length === 0,
  position: head,
  events,
  streams,
  newest_at: newestAt ?? null,
  faults: faults.map(faultToJson),
  notes: notes.map(faultToJson),
})

const faultToJson = ({ stream, revision, position, eventId, what }: Fault) => ({
  stream,
  revision: revision ?? null,
  position: position ?? null,
  event_id: eventId ?? null,
  fault: what,
})

const toText = ({ head, events, streams, newestAt, faults, notes }: Verification): string => {
  const upTo = newestAt ? `position ${head} of ${newestAt}` : `position ${head}`
  const checked = `${count(events, 'event')} in ${count(streams, 'stream')} checked, up to ${upTo}`
  return [
    ...faults.map(fault => printable(`${placeOf(fault)}: ${fault.what}`)),
    ...notes.map(note => printable(`${placeOf(note)}: note: ${note.what}`)),
    `${checked}: ${faults.length === 0 ? 'nothing is wrong.' : `${count(faults.length, 'fault')}.`}`,
  ].join('\n')
}

/** The texts of a damaged log may hold anything, also characters that control a terminal. */
const printable = (text: string): string => text.replaceAll(/\p{C}/gu, found => JSON.stringify(found).slice(1, -1))

const placeOf = ({ stream, revision, eventId }: Fault): string =>
  [stream, revision !== undefined && `revision ${revision}`, eventId].filter(Boolean).join(', ')

const count = (number: number, noun: string): string =>
  `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
