/** Invisible characters, line ends, and a percent sign that would be read as the beginning of such an escape. */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}]|%(?=[0-9A-Fa-f]{2})/gu

/**
 * A text on one line, in which unsafe characters are written as in a URL, such as `%0A`. So decoding it as a part of a
 * URL returns the text.
 */
export const percentEncoded = (text: string, more?: RegExp): string => {
  const encoded = text.replaceAll(UNSAFE, encode)
  return more ? encoded.replaceAll(more, encode) : encoded
}

const encode = (found: string): string =>
  [...Buffer.from(found)].map(byte => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
