import type { Quote, QuoteLine } from '../../../schemas/api/run.ts'
import type { OutputType, TokenKind } from '../../../schemas/catalog.ts'
import { USUAL_ANSWER_TOKENS } from '../../domain/catalog/tokens.ts'
import { toMicros } from '../../domain/money.ts'
import { credits, decimal, plural, SIDES } from '../parts/text.ts'

/** The price of what a form says, for its button and the line below. */
export interface Price {
  button: string
  /** The calculation of the price, line by line as in the receipt. */
  formula: string
  /** What the run probably costs, if its tokens decide that. */
  likely?: string
  /** The most that the run costs. */
  micros: number
  /** What is left after that, or what is missing; in test mode, what the run would cost. */
  leaves: string
  isAffordable: boolean
}

export const priceOf = (quote: Quote, balanceMicros: number): Price => {
  const micros = toMicros(quote.credits)
  const leftMicros = balanceMicros - micros
  return {
    button: buttonText(quote),
    formula: formulaOf(quote),
    ...(quote.likely_credits !== undefined && { likely: likelyText(quote, quote.likely_credits) }),
    micros,
    leaves: leavesText(quote, leftMicros),
    isAffordable: leftMicros >= 0,
  }
}

const buttonText = ({ credits: most, likely_credits: likely, livemode }: Quote): string => {
  if (!livemode) return 'Run – costs nothing'
  return `Run for ${likely === undefined ? plural(most, 'credit') : `${upTo(most)} credits`}`
}

const leavesText = ({ livemode, live_credits: live = 0, likely_credits: likely }: Quote, leftMicros: number) => {
  if (!livemode) return `would cost ${likely === undefined ? plural(live, 'credit') : `${upTo(live)} credits`}`
  if (leftMicros < 0) return `${credits(-leftMicros)} credits short`
  return `leaves ${likely === undefined ? '' : 'at least '}${credits(leftMicros)}`
}

const likelyText = ({ lines }: Quote, likely: number): string => {
  const counts = lines.map(line => (line.kind === 'tokens' && /output|thinking/.test(line.tokens) ? line.count : 0))
  const tokens = Math.min(Math.max(...counts), USUAL_ANSWER_TOKENS)
  return `about ${decimal(Number(likely.toPrecision(2)))} for an answer of ${plural(tokens, 'token')}`
}

/** `up to 2.48`: a maximum in few digits, which is never below the exact one. */
export const upTo = (most: number): string => {
  const micros = toMicros(most)
  const step = 10 ** Math.max(0, Math.min(4, String(micros).length - 2))
  return `up to ${credits(Math.ceil(micros / step) * step)}`
}

/** `10 × 2 images × 1.5 (2K) + 1.5 (web search)`. */
const formulaOf = ({ lines, credits: most, live_credits: inLive = most }: Quote): string => {
  const counted = lines.filter(line => !isNothing(line))
  const steps = counted.map((line, at) => (at === 0 ? stepOf(line).replace(/^[×+] /, '') : stepOf(line)))
  if (counted.length === 1 && counted[0]?.kind === 'base') return `${steps[0]} for each run`
  const hasTokens = counted.some(({ kind }) => kind === 'tokens')
  // The tokens are not known before the run, and the button rounds their price.
  return hasTokens ? `at most ${steps.join(' ')} = ${decimal(inLive)}` : steps.join(' ')
}

/** Whether a line adds nothing: models with a price by the token have no base, and may not use tokens of each kind. */
const isNothing = (line: QuoteLine) =>
  (line.kind === 'base' && line.credits === 0) || (line.kind === 'tokens' && line.count === 0)

const UNITS: Readonly<Record<string, string>> = { num_images: 'image', duration: 'second' }

const stepOf = (line: QuoteLine): string => {
  switch (line.kind) {
    case 'base':
      return decimal(line.credits)
    case 'quantity':
      return SIDES[line.parameter]
        ? `× ${decimal(line.value)} ${SIDES[line.parameter]}`
        : `× ${plural(line.value, UNITS[line.parameter] ?? nameOf(line.parameter))}`
    case 'multiplier':
      return `× ${decimal(line.factor)} (${valueText(line.parameter, line.value)})`
    case 'tokens':
      return `+ ${decimal(line.count)} ${TOKENS[line.tokens]} at ${decimal(line.credits_per_million)} a million`
    case 'surcharge':
      return `+ ${decimal(line.credits)} (${nameOf(line.parameter)})`
  }
}

const TOKENS: Readonly<Record<TokenKind, string>> = {
  input: 'tokens in',
  cached_input: 'cached tokens in',
  output: 'tokens out',
  thinking: 'tokens of thought',
}

const nameOf = (parameter: string) => parameter.replace(/^(enable|generate)_/, '').replaceAll('_', ' ')

const valueText = (parameter: string, value: string) => {
  if (value === 'true') return nameOf(parameter)
  return value === 'false' ? `no ${nameOf(parameter)}` : value
}

/** `image`, as the card of a family says it. */
export const OUTPUTS: Readonly<Record<OutputType, string>> = {
  image: 'image',
  video: 'video',
  audio: 'sound',
  text: 'text',
}

/** The kind that a query names, such as `videos`: the descriptions of other kinds have these words too. */
export const kindNamed = (query: string): OutputType | undefined => {
  const word = query.trim().toLowerCase().replace(/s$/, '')
  return (Object.keys(KIND_WORDS) as OutputType[]).find(kind => KIND_WORDS[kind].includes(word))
}

const KIND_WORDS: Readonly<Record<OutputType, readonly string[]>> = {
  image: ['image', 'picture', 'photo'],
  video: ['video', 'film', 'movie'],
  audio: ['sound', 'audio', 'speech', 'music'],
  text: ['text'],
}

/** What a script says when no response comes, though the request may have arrived. */
export const UNREACHED =
  'The service cannot be reached. If the run began all the same, it is under Runs: look there before you try again.'
