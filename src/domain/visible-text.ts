/** Characters that control a terminal or the direction of text, without line breaks and tabs. */
const CONTROLS = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/**
 * A text without control characters: each is shown by its code. Vendors and customers choose parts of many texts, and
 * a terminal obeys such characters. JSON remains the same value.
 */
export const visible = (text: string): string => text.replaceAll(CONTROLS, escapedByCode)

/** A character by its code, such as `\u5c71` or `\u{1f600}`. */
export const escapedByCode = (character: string): string => {
  const code = (character.codePointAt(0) as number).toString(16)
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
}
