import { SLICE_BYTES } from './base64.ts'
import { yieldToEventLoop } from './turns.ts'

/** Writing so many characters takes less than a millisecond. */
const PIECE_LENGTH = SLICE_BYTES

/** Whether a value has so many characters that its JSON should be written in pieces. */
export const isLongJson = (value: unknown): boolean => charactersLeft(value, PIECE_LENGTH) <= 0

const charactersLeft = (value: unknown, left: number): number => {
  if (left <= 0) return left
  if (typeof value === 'string') return left - value.length
  if (typeof value !== 'object' || value === null) return left - 1
  let rest = left
  for (const each of Array.isArray(value) ? value : Object.values(value)) {
    rest = charactersLeft(each, rest)
    if (rest <= 0) break
  }
  return rest
}

/**
 * The JSON of a value that was made from JSON, in pieces that are made in turns of the event loop. A piece holds all of
 * a string that is shorter. With `canonical`, which writes a short value, it is the canonical JSON.
 */
export async function* jsonInPieces(value: unknown, canonical?: Write): AsyncGenerator<string> {
  let piece = ''
  for (const part of partsOf(value, canonical)) {
    piece += part
    if (piece.length < PIECE_LENGTH) continue
    yield piece
    piece = ''
    await yieldToEventLoop()
  }
  yield piece
}

type Write = (value: unknown) => string

function* partsOf(value: unknown, canonical: Write | undefined): Generator<string> {
  if (!isLongJson(value)) yield (canonical ?? JSON.stringify)(value)
  else if (typeof value === 'string') yield* textParts(value)
  else if (Array.isArray(value)) {
    yield '['
    for (const [index, each] of value.entries()) {
      if (index > 0) yield ','
      yield* partsOf(each ?? null, canonical)
    }
    yield ']'
  } else {
    const members = Object.entries(value as object).filter(([, each]) => each !== undefined)
    // By UTF-16 code units, as RFC 8785 requires.
    if (canonical) members.sort(([one], [other]) => (one < other ? -1 : 1))
    yield '{'
    for (const [index, [name, each]] of members.entries()) {
      yield `${index > 0 ? ',' : ''}${JSON.stringify(name)}:`
      yield* partsOf(each, canonical)
    }
    yield '}'
  }
}

function* textParts(text: string): Generator<string> {
  yield '"'
  for (let at = 0; at < text.length; ) {
    const end = at + PIECE_LENGTH
    const next = isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end
    yield JSON.stringify(text.slice(at, next)).slice(1, -1)
    at = next
  }
  yield '"'
}

/** The first half of a character, which must stay with the other half. */
const isHighSurrogate = (code: number) => code >= 0xd800 && code < 0xdc00
