import { type Dialect, type Form, type Script, sendEvents, type VendorEvent } from '../../support/vendors/streams.ts'
import { type Handler, reply } from '../../support/vendors/vendor-server.ts'

/** How a vendor's answer ends after some of its events. */
const ENDINGS = ['end', 'cut', 'error', 'garbage', 'hang'] as const

/** A run of a text, with what its vendor and its client do. */
export interface TextCase {
  /** It is in the prompt, by which the vendor knows the case. */
  number: number
  prompt: string
  script: Script
  form: Form
  ending: (typeof ENDINGS)[number]
  /** The events that arrive. */
  count: number
  /** The status of an error, which is an event or, before the first event, may be a response. */
  status: number
  isResponse: boolean
  client: TextClient
}

export interface TextClient {
  /** Gives up when it has so many characters; otherwise it reads to the end. */
  leaves?: { after: number; by: 'leaving' | 'cancelling' }
  /** Sends an idempotency key, so that the run goes on without it. */
  isIdempotent: boolean
  /** Whether the header or the body asks for the stream. */
  accepts: boolean
}

/** The longest answer that a client asks for, which some counts exceed. */
export const LONGEST_ANSWER = 64

/** A half of a character may arrive alone. */
const ALPHABET = ['a', 'ü', '语', '😀', '\n', '"', '\\', ' ', 'data: ', '[DONE]', '\r\n', '\u2028', '\0', '\ud83d']

const COUNTS = { input: [0, 7, 90, 1200, 1e12, -1], output: [0, 1, 30, 300, 1e12, 0.5] }

/** 429 and 401 close the account at the vendor to all runs for a while. */
const STATUSES = [400, 500, 503]

/** A case by chance. With `mustWork`, the text arrives whole, and somebody reads it. */
export const textCase = (dialect: Dialect, number: number, random: () => number, mustWork: boolean): TextCase => {
  const below = (count: number) => Math.floor(random() * count)
  const pick = <One>(from: readonly One[]) => from[below(from.length)] as One
  const prompt = `case ${number}: ${Array.from({ length: below(40) }, () => pick(ALPHABET)).join('')}`.toWellFormed()
  const text = (mustWork ? 'A' : '') + Array.from({ length: below(40) }, () => pick(ALPHABET)).join('')
  // Cuts may halve characters.
  const cuts = Array.from({ length: below(8) }, () => below(text.length + 1)).sort((one, other) => one - other)
  const pieces = [0, ...cuts].map((cut, at) => text.slice(cut, cuts[at] ?? text.length)).filter(piece => piece !== '')
  const script: Script = {
    ...{ pieces, thinks: random() < 0.3, isCut: random() < 0.3 },
    counts: Array.from({ length: below(4) }, () => ({ input: pick(COUNTS.input), output: pick(COUNTS.output) })),
    place: pick(['own', 'beside']),
  }
  const form = { lineEnd: pick(['\n', '\r\n'] as const), comments: random() < 0.3, chunkBytes: pick([20, 100, 1e5]) }
  const events = dialect.events(script)
  const ending = mustWork ? 'end' : pick(ENDINGS)
  const count = mustWork || random() < 0.5 ? events.length : below(events.length + 1)
  const shown = shownIn(events.slice(0, count)).replace(/[\ud800-\udbff]$/, '')
  const leaves = { after: below(shown.length + 1), by: pick(['leaving', 'cancelling'] as const) }
  return {
    ...{ number, prompt, script, form, ending, count, status: pick(STATUSES), isResponse: random() < 0.5 },
    client: {
      ...(!mustWork && random() < (ending === 'hang' ? 0.9 : 0.3) && { leaves }),
      ...{ isIdempotent: random() < 0.1, accepts: random() < 0.5 },
    },
  }
}

/** Whether the client cancels the run, unless it ends before. One with an idempotency key may only leave. */
export const cancels = ({ leaves, isIdempotent }: TextClient): boolean =>
  leaves !== undefined && !(isIdempotent && leaves.by === 'leaving')

/** Whether only the time limit ends the run. */
export const isEndless = ({ ending, client }: TextCase): boolean => ending === 'hang' && !cancels(client)

/** The text that events add. */
export const shownIn = (events: readonly VendorEvent[]): string => events.map(({ text = '' }) => text).join('')

/** The events that arrive in a case. */
export const arrivingIn = (dialect: Dialect, { script, count }: TextCase): VendorEvent[] =>
  dialect.events(script).slice(0, count)

/** Answers like the vendor, as the case says. */
export const answerAs =
  (dialect: Dialect, given: TextCase): Handler =>
  async ({ path, body }, response) => {
    const { script, form, ending, count, status, isResponse } = given
    if (!(path.includes('stream') || JSON.parse(body.toString()).stream))
      return reply(response, 200, dialect.whole(script))
    if (ending === 'error' && count === 0 && isResponse) return reply(response, status, dialect.error(status))
    const last = { error: JSON.stringify(dialect.error(status)), garbage: '{"cut' }[ending as 'error']
    const events = arrivingIn(dialect, given)
    await sendEvents(response, last === undefined ? events : [...events, { lines: [`data: ${last}`] }], form)
    if (ending === 'cut') response.destroy()
    else if (ending !== 'hang') response.end()
  }
