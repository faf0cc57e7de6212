import { isDeepStrictEqual } from 'node:util'
import type { RunRow } from '../../../schemas/views.ts'
import type { NewEvent } from '../../../src/ports/event-log.ts'
import type { Chance } from './chance.ts'

type Units = Record<string, number>

interface Text {
  /** What the provider says. */
  pieces: string[]
  /** The tokens that it reports: other ones each time that it has forgotten the job. */
  reports: Units[]
  input?: Record<string, unknown>
  /** The longest text that a client has heard. */
  heard: string
  /** The text of the completed run. */
  kept?: string
}

interface Completed {
  runId: string
  output: { text?: string }
  usage?: unknown
  finishReason?: string
  upstream?: { provider: string }
}

const PIECES = ['words, ', 'more words, ', 'ü', '语', '😀', '\n']

/** The longest text. */
const MAX_PIECES = 6

/** Compares the texts that providers say with what clients hear, and with what is kept and charged. */
export class TextTruth {
  readonly #texts = new Map<string, Text>()
  readonly #onViolation: (violation: string) => void
  readonly #count: (what: string) => void

  constructor(onViolation: (violation: string) => void, count: (what: string) => void) {
    this.#onViolation = onViolation
    this.#count = count
  }

  /** The text of a run. It may begin with a blank, which is no text yet. */
  piecesOf(runId: string, chance: Chance): string[] {
    const text = this.#textOf(runId)
    if (text.pieces.length > 0) return text.pieces
    const more = Array.from({ length: chance.below(MAX_PIECES) }, () => chance.pick(PIECES))
    text.pieces = [...(chance.happens(0.3) ? [' '] : []), `an answer to ${runId}: `, ...more]
    return text.pieces
  }

  /** The provider will report these tokens. */
  noteReport(runId: string, units: Units) {
    this.#textOf(runId).reports.push(units)
  }

  follow({ type, data }: Pick<NewEvent, 'type' | 'data'>) {
    const { runId, input, endpoint } = data as { runId: string; input?: Text['input']; endpoint?: string }
    if (endpoint?.endsWith('t2t') && input) this.#textOf(runId).input = input
    const text = this.#texts.get(runId)
    if (type === 'RunCompleted' && text?.input) this.#complete(text, data as Completed)
  }

  /** A client has heard all of this so far. */
  hear(runId: string, heard: string) {
    const text = this.#textOf(runId)
    this.#count('text heard')
    if (!isBeginning(heard, text.heard) && !isBeginning(text.heard, heard))
      this.#onViolation(`${runId} was heard as ${heard}, and before as ${text.heard}`)
    if (!isBeginning(heard, text.pieces.join('')))
      this.#onViolation(`${runId} was heard as ${heard}, which nobody said`)
    if (text.kept !== undefined) this.#expectBeginning(runId, heard, text.kept)
    if (heard.length > text.heard.length) text.heard = heard
  }

  /** A client was shown its completed run. */
  expectShown({ runId, status, output }: RunRow) {
    const { kept } = this.#textOf(runId)
    if (status === 'completed' && output?.text !== kept)
      this.#onViolation(`${runId} was shown with ${output?.text}, and keeps ${kept}`)
  }

  #complete({ pieces, reports, input, heard }: Text & { input?: object }, completed: Completed) {
    const { runId, output, usage, finishReason, upstream } = completed
    const { text = '' } = output
    this.#textOf(runId).kept = text
    this.#expectBeginning(runId, heard, text)
    const whole = pieces.join('')
    const isCut = finishReason === 'cancelled'
    if (isCut) this.#count('text cut off')
    if (isCut ? !isBeginning(text, whole) || text.trim() === '' : text !== whole)
      this.#onViolation(`${runId} keeps ${text}, and its provider said ${whole}`)
    // The sandbox has no price list, which names the tokens of a report.
    const isReported = !isCut && upstream?.provider !== 'sandbox'
    const counted = countTokens(input ?? {}, text)
    const expected = isReported ? reports.map(report => tokensIn(report) ?? counted) : [counted]
    if (!expected.some(each => isDeepStrictEqual(each, usage)))
      this.#onViolation(`${runId} used ${JSON.stringify(usage)}, and not ${JSON.stringify(expected)}`)
  }

  #expectBeginning(runId: string, heard: string, kept: string) {
    if (!isBeginning(heard, kept)) this.#onViolation(`${runId} was heard as ${heard}, and keeps ${kept}`)
  }

  #textOf(runId: string): Text {
    const text = this.#texts.get(runId) ?? { pieces: [], reports: [], heard: '' }
    this.#texts.set(runId, text)
    return text
  }
}

const isBeginning = (part: string, whole: string) => whole.startsWith(part)

const MAX_TOKENS = 1e9

/** The tokens of a report; undefined if it lacks some or is absurd. The cached tokens are among those of the input. */
const tokensIn = ({ input_tokens: all, cached_tokens: cached = 0, output_tokens: output }: Units) => {
  if (all === undefined || output === undefined || cached > all) return undefined
  const [input = 0, ...rest] = [all - cached, cached, output].map(Math.ceil)
  const [cached_input = 0, answer = 0] = rest
  return answer > MAX_TOKENS ? undefined : { input, cached_input, output: answer, thinking: 0 }
}

/** Four bytes of the values of the input and of the text are a token. */
const countTokens = (input: object, text: string) => ({
  input: Math.ceil(Buffer.byteLength(Object.values(input).join('')) / 4),
  cached_input: 0,
  output: Math.ceil(Buffer.byteLength(text) / 4),
  thinking: 0,
  counted: true,
})
