import type { Static } from 'typebox'
import type { RunCompleted } from '../../../schemas/account-events.ts'
import { MAX_TOKENS, type TokenUsage } from '../../../schemas/catalog.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { priceOf, type Receipt, usedLines } from '../../auditor/prices.ts'
import type { Dialect, VendorEvent } from '../../support/vendors/streams.ts'
import { arrivingIn, cancels, isEndless, shownIn, type TextCase } from './text-case.ts'
import type { Heard } from './text-client.ts'

/** How a run may end. */
type End = 'whole' | 'cut off' | 'failed'

type Event = Pick<RawEvent, 'type' | 'data'>

/** How a run was completed; undefined if it was not. */
export const completionIn = (events: readonly Event[]) =>
  dataOf(events, 'RunCompleted') as Static<typeof RunCompleted> | undefined

export const endIn = (events: readonly Event[]): End => {
  const completed = completionIn(events)
  return completed ? (completed.finishReason === 'cancelled' ? 'cut off' : 'whole') : 'failed'
}

/** What a run cost, by the events of its account. */
export const costIn = (events: readonly Event[]): number =>
  amountIn(events, 'CreditsDebited') - amountIn(events, 'CreditsReleased') - amountIn(events, 'CreditsRefunded')

const dataOf = (events: readonly Event[], type: string) =>
  events.find(event => event.type === type)?.data as Record<string, unknown> | undefined

const amountIn = (events: readonly Event[], type: string) => Number(dataOf(events, type)?.['amountMicros'] ?? 0)

/** The faults of a run of a case: what its client heard, and the events of its account, against the rules. */
export const faultsOf = (dialect: Dialect, given: TextCase, heard: Heard, events: readonly Event[]): string[] => {
  const faults: string[] = []
  const expect = (holds: boolean, fault: string) => void (holds || faults.push(fault))
  const debit = dataOf(events, 'CreditsDebited') as { amountMicros: number; receipt: Receipt }
  const completed = completionIn(events)
  const released = amountIn(events, 'CreditsReleased')
  const said = heard.pieces.join('')
  const whole = given.script.pieces.join('').toWellFormed()

  const end = endIn(events)
  expect(endsOf(dialect, given, heard).includes(end), `it ended as ${end}`)
  const types = events.map(({ type }) => type).filter(type => type !== 'RunCancelRequested')
  expect(ORDERS[completed ? 'completed' : 'failed'].includes(types.join(' ')), `its events are ${types}`)
  expect(debit.amountMicros === priceOf(debit.receipt.lines), 'the reservation is not a price')
  expect(whole.startsWith(said), 'the client got what its vendor has not sent')
  if (heard.run) {
    const { status, credits_charged, credits_released = 0 } = heard.run
    const told = [credits_charged, credits_released].map(credits => Math.round(credits * 1e6))
    expect(status === (completed ? 'completed' : 'failed'), 'the client was told another end')
    expect(told.join() === [debit.amountMicros, released].join(), 'the client was told another price')
  }
  if (!completed) {
    expect(costIn(events) === 0, 'a failure is not refunded in full')
    return faults
  }
  const { text = '' } = completed.output
  expect(text.startsWith(said), 'the text kept is not the text sent')
  if (heard.run) expect(said === text && heard.run.output?.text === text, 'the client did not get the text kept')
  expect(end === 'whole' ? text === whole : whole.startsWith(text), 'the vendor has not sent the text kept')
  const { input } = dataOf(events, 'RunStarted') as { input: Record<string, unknown> }
  const reported = end === 'whole' ? reportedIn(dialect, arrivingIn(dialect, given)) : undefined
  const usage = reported ?? countedIn(input, text)
  expect(JSON.stringify(completed.usage) === JSON.stringify(usage), 'its tokens are not those of the rule')
  const micros = Math.min(debit.amountMicros, priceOf(usedLines(debit.receipt, { ...usage })))
  expect(costIn(events) === micros, `it costs ${costIn(events)}, and the rule says ${micros}`)
  return faults
}

/** One debit, at most one release, and one end. A vendor that refused a run bills nothing for it. */
const ORDERS = {
  completed: ['CreditsDebited RunStarted RunCompleted', 'CreditsDebited RunStarted CreditsReleased RunCompleted'],
  failed: [
    'CreditsDebited RunStarted RunFailed CreditsRefunded',
    'CreditsDebited RunStarted RunFailed CreditsRefunded ProviderCostRecorded',
  ],
}

/** Whether all of the answer has arrived, usage included: the same answer without a stream must cost the same. */
export const isComparable = (dialect: Dialect, given: TextCase, events: readonly Event[]): boolean =>
  endIn(events) === 'whole' && given.count === dialect.events(given.script).length

/** How a run may end by the rules. More than one end is possible where it depends on who is first. */
const endsOf = (dialect: Dialect, given: TextCase, { hasGivenUp }: Heard): End[] => {
  const { ending, client } = given
  const arriving = arrivingIn(dialect, given)
  const natural = naturalEnd(dialect, given)
  const isCancelled = hasGivenUp && cancels(client)
  if (ending !== 'hang') return isCancelled ? [natural, 'cut off', 'failed'] : [natural]
  // After its last event, a vendor may keep a stream open for a moment.
  const late: End[] = arriving.some(({ end }) => end === 'last') ? [natural] : []
  if (isEndless(given) || !isCancelled) return ['failed', ...late]
  const shown = shownIn(arriving)
  if (shown.trim() === '') return ['failed', ...late]
  const isSure = shown.slice(0, client.leaves?.after).trim() !== ''
  return ['cut off', ...late, ...(isSure ? [] : (['failed'] as const))]
}

/** How a run ends that nobody cancels, if its vendor does not hang before the last event. */
const naturalEnd = (dialect: Dialect, given: TextCase): End => {
  const { ending } = given
  const end = arrivingIn(dialect, given).reduce<VendorEvent['end']>((latest, each) => each.end ?? latest, undefined)
  const isWhole = ending === 'error' ? end === 'last' : end !== undefined
  return isWhole && given.script.pieces.join('').trim() !== '' ? 'whole' : 'failed'
}

/** The counts of the events, as the vendor documents them. Undefined if they are missing or absurd. */
const reportedIn = (dialect: Dialect, events: readonly VendorEvent[]): TokenUsage | undefined => {
  const counts = COUNTS[dialect.name]?.(events.map(factsOf))
  if (!counts) return undefined
  const usage = { input: Math.ceil(counts.input), cached_input: 0, output: Math.ceil(counts.output), thinking: 0 }
  const isAbsurd = counts.input < 0 || usage.output === 0 || Math.max(usage.input, usage.output) > MAX_TOKENS
  return isAbsurd ? undefined : usage
}

type Facts = { [name: string]: Facts } | undefined

const factsOf = ({ lines }: VendorEvent): Facts => {
  const data = lines.find(line => line.startsWith('data: '))?.slice('data: '.length) ?? ''
  return data === '[DONE]' ? {} : JSON.parse(data)
}

const numbers = (input: unknown, output: unknown) => ({ input: input as number, output: output as number })

const COUNTS: Record<string, (events: Facts[]) => { input: number; output: number } | undefined> = {
  OpenAI: events => {
    const usage = events.findLast(event => event?.['usage'])?.['usage']
    return usage && numbers(usage['prompt_tokens'], usage['completion_tokens'])
  },
  // Only the counts at the end are of the whole message, and those that have not changed may be null.
  Anthropic: events => {
    const ends = events.flatMap(event =>
      (event?.['type'] as unknown) === 'message_delta' ? (event?.['usage'] ?? []) : [],
    )
    const started = events.find(event => event?.['message'])?.['message']?.['usage']
    const inputs = [started, ...ends].map(usage => usage?.['input_tokens'] ?? undefined)
    return ends.length > 0
      ? numbers(
          inputs.findLast(count => count !== undefined),
          ends.at(-1)?.['output_tokens'],
        )
      : undefined
  },
  // Counts of 0 are left out.
  Google: events => {
    const usage = events.findLast(event => event?.['usageMetadata'])?.['usageMetadata']
    return usage && numbers(usage['promptTokenCount'], usage['candidatesTokenCount'] ?? 0)
  },
}

/** Four bytes of the values of the input and of the text are a token. */
const countedIn = (input: Record<string, unknown>, text: string): TokenUsage => ({
  input: Math.ceil(bytesIn(Object.values(input).join('')) / 4),
  cached_input: 0,
  output: Math.ceil(bytesIn(text) / 4),
  thinking: 0,
  counted: true,
})

const bytesIn = (text: string) => Buffer.byteLength(text)
