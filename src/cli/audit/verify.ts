import { availableParallelism } from 'node:os'
import { Command } from 'commander'
import { count } from '../../audit/decimal.ts'
import type { Fault } from '../../audit/fault.ts'
import { isOldName, type KeptSeal, readSealFile, type SealKeys, sealKeysIn } from '../../audit/kept-seals.ts'
import { type Verification, verifyLog } from '../../audit/verify/verify.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { parseSeal } from '../arguments.ts'
import { OperatorError, UNABLE, WRONG } from '../operator-error.ts'
import { progressReport } from '../print.ts'
import { faultToJson, sealToJson } from './json.ts'
import { printable } from './text.ts'
import { verifyWithWorkers } from './verify-workers.ts'
import { fileOption, withLog } from './with-log.ts'

export const verifyCommand = (): Command =>
  new Command('verify')
    .argument('[account]')
    .description(
      'verify the whole log, or one account; exits with 1 if there are faults, and with 2 if the result is unknown',
    )
    .addOption(fileOption())
    .option('--since <seal>', 'name of a seal that you kept elsewhere; the log must extend this seal')
    .option('--sink <path>', 'file of seals named in SEAL_SINK; the log must have all of these seals')
    .option('--workers <number>', 'worker processes, 1 to 16 (default: by log size)')
    .option('--json', 'print JSON')
    .action(async (account, options) => {
      const isCompared = options.since !== undefined || options.sink !== undefined
      if (isCompared && account)
        throw new OperatorError('--since and --sink need the whole log: omit the account.', UNABLE)
      const asked = options.workers === undefined ? undefined : parseWorkers(options.workers)
      if (asked && account) throw new OperatorError('--workers needs the whole log: omit the account.', UNABLE)
      const { verification, kept } = await withLog(options, async opened => {
        const kept = isCompared ? await keptIn(options, opened.log) : undefined
        const workers = account ? 1 : (asked ?? (await defaultWorkers(opened)))
        const how = { isDense: opened.isDense, kept, onProgress: progressReport('checked') }
        const verification = await (workers === 1
          ? verifyLog(opened.log, { account, ...how })
          : verifyWithWorkers(opened.log, { workers, file: options.file, ...how }))
        return { verification, kept }
      })
      if (!verification) throw new OperatorError(`The log has no account ${account}.`, UNABLE)
      if (options.json) console.log(JSON.stringify(toJson(verification, kept)))
      else console.log([toText(verification), ...aboutSeals(verification, kept)].join('\n'))
      if (verification.faults.length > 0) process.exitCode = WRONG
      else if (verification.isInDoubt) process.exitCode = UNABLE
    })

/** Each worker opens the log and takes memory. More workers would wait for the first. */
const MAX_WORKERS = 16

const parseWorkers = (text: string): number => {
  const workers = /^\d{1,2}$/.test(text) ? Number(text) : 0
  if (workers >= 1 && workers <= MAX_WORKERS) return workers
  throw new OperatorError(`--workers must be a number from 1 to ${MAX_WORKERS}.`, UNABLE)
}

/** In a smaller log, starting more workers takes as long as they save. */
const MANY_EVENTS = 250_000

/** More workers save little time. */
const USUAL_WORKERS = 4

/**
 * One worker per core if the log is large and embedded. Any other log would be sent or parsed in full for each worker.
 */
const defaultWorkers = async ({ log, isDense }: { log: ReadableLog; isDense: boolean }): Promise<number> => {
  if (!isDense || (await log.head()) < MANY_EVENTS) return 1
  return Math.min(availableParallelism(), USUAL_WORKERS)
}

const keptIn = async ({ since, sink }: { since?: string; sink?: string }, log: ReadableLog): Promise<KeptSeal[]> => {
  const one = since === undefined ? [] : [parseSeal('--since', since)]
  return [...one, ...(sink === undefined ? [] : await sealsIn(sink, await sealKeysIn(log)))]
}

const sealsIn = async (path: string, keys: SealKeys): Promise<KeptSeal[]> => {
  try {
    return await readSealFile(path, keys)
  } catch (error) {
    throw new OperatorError(`The seals cannot be read: ${printable((error as Error).message)}.`, UNABLE)
  }
}

const toJson = (
  { head, events, streams, newestAt, seal, unsealed, faults, notes, isInDoubt }: Verification,
  kept: KeptSeal[] | undefined,
) => ({
  valid: faults.length === 0 && isInDoubt ? null : faults.length === 0,
  position: head,
  events,
  streams,
  newest_at: newestAt ?? null,
  seal: sealToJson(seal),
  unsealed_events: unsealed,
  kept_seals: kept?.length ?? null,
  faults: faults.map(foundToJson),
  notes: notes.map(foundToJson),
})

const foundToJson = (fault: Fault) => ({ stream: fault.stream, ...faultToJson(fault) })

const toText = ({ head, events, streams, newestAt, faults, notes }: Verification): string => {
  const upTo = newestAt ? `position ${head} of ${newestAt}` : `position ${head}`
  const checked = `${count(events, 'event')} in ${count(streams, 'stream')} checked, up to ${upTo}`
  return [
    ...faults.map(fault => printable(`${placeOf(fault)}: ${fault.what}`)),
    ...notes.map(note => printable(`${placeOf(note)}: note: ${note.what}`)),
    `${checked}: ${faults.length === 0 ? 'nothing is wrong.' : `${count(faults.length, 'fault')}.`}`,
  ].join('\n')
}

/** The extent of the newest seal, and the advice to keep it: without a kept seal, a rewritten log passes. */
const aboutSeals = ({ events, seal, unsealed, faults }: Verification, kept: KeptSeal[] | undefined): string[] => {
  if (events === 0) return ['The log is empty. Check that this is the right log.']
  if (!seal) return unsealed > 0 ? [UNSEALED] : []
  const covered = `Seal ${seal.name} of ${seal.at} covers the first ${count(seal.events, 'event')} without the seals`
  const newer = unsealed > 0 ? `, but not the last ${unsealed.toLocaleString('en')}.` : '.'
  // A seal of a faulty log is not worth keeping.
  const advise = (text: string) => (faults.length === 0 ? [text] : [])
  if (!kept) return [covered + newer, ...advise(KEEP)]
  const compared = `${count(kept.length, 'seal')} that you kept ${kept.length === 1 ? 'was' : 'were'} compared.`
  return [covered + newer, compared, ...(kept.some(({ name }) => isOldName(name)) ? advise(OLD) : [])]
}

const KEEP = 'Keep this seal elsewhere, and pass it as --since: only a kept seal reveals a truncated or rewritten log.'

const OLD = 'No signature covers an old name such as 12:6cdf…. Keep the name of this seal, and pass it from now on.'

const UNSEALED =
  'No seal covers this log, so a truncated end or a missing stream cannot be detected. A process with the role ' +
  'sealer makes a seal within SEAL_MINUTES.'

const placeOf = ({ stream, revision, eventId }: Fault): string =>
  [stream, revision !== undefined && `revision ${revision}`, eventId].filter(Boolean).join(', ')
