import { yieldToEventLoop } from '../../json/turns.ts'

/** Several times the longest answer of a model, without its files. Parsing more would block all other requests. */
export const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024

/** Some models return their text in pieces, the longest in 128,000. Parsing this many takes about 10 ms. */
const MAX_MARKS = 200_000

/** Scanning it takes less than a millisecond. */
const SLICE_BYTES = 192 * 1024

const [QUOTE, BACKSLASH] = [0x22, 0x5c]

/** Begins or separates values. */
const MARKS = new Set(Buffer.from(',:[{'))

export const tooLong = () => new Error(`the answer has more than ${MAX_DOCUMENT_BYTES} bytes besides its files`)

/** Rejects if JSON would take long to parse. A megabyte of brackets takes a quarter of a second. */
export const assertParseable = async (document: Buffer): Promise<void> => {
  let marks = 0
  let sliceEnd = SLICE_BYTES
  for (let at = 0; at < document.length; at++) {
    const byte = document[at] as number
    if (byte === QUOTE) at = endOfText(document, at)
    else if (MARKS.has(byte) && ++marks > MAX_MARKS) throw new Error(`the answer has more than ${MAX_MARKS} values`)
    if (at < sliceEnd) continue
    await yieldToEventLoop()
    sliceEnd = at + SLICE_BYTES
  }
}

/** The limits of a vendor's answer. */
export const answerLimits = {
  ...{ maxBytes: MAX_DOCUMENT_BYTES, maxTextBytes: MAX_DOCUMENT_BYTES },
  ...{ tooLong, check: assertParseable },
}

/** The end of the string that starts at a quote. */
const endOfText = (document: Buffer, start: number): number => {
  let end = start
  do {
    end = document.indexOf(QUOTE, end + 1)
    if (end === -1) return document.length
  } while (isEscaped(document, end))
  return end
}

const isEscaped = (document: Buffer, at: number): boolean => {
  let from = at
  while (document[from - 1] === BACKSLASH) from--
  return (at - from) % 2 === 1
}
