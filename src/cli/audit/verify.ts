import { Command } from 'commander'
import type { Fault } from '../../audit/fault.ts'
import { type Verification, verifyLog } from '../../audit/verify/verify.ts'
import { OperatorError } from '../operator-error.ts'
import { progressReport } from '../progress.ts'
import { count, printable } from './text.ts'
import { fileOption, UNABLE, withLog } from './with-log.ts'

/** The exit code of a check that found something wrong. */
const WRONG = 1

export const verifyCommand = (): Command =>
  new Command('verify')
    .argument('[account]')
    .description(
      'checks the whole log, or one account; exits with 1 if something is wrong, and with 2 if it cannot look',
    )
    .addOption(fileOption())
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

const placeOf = ({ stream, revision, eventId }: Fault): string =>
  [stream, revision !== undefined && `revision ${revision}`, eventId].filter(Boolean).join(', ')
