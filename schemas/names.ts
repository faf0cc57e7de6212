import { Type } from 'typebox'

// Texts that people choose. Only this service checks their characters: regular expressions of other languages know
// other characters, and some have no lookarounds. Published schemas contain only the lengths.

/** A name on one line, such as a label: printable characters of any script, the first one not a space. */
export const Line = (maxLength: number) => Type.String({ minLength: 1, maxLength, format: 'line' })

/** One name in a path, in any script. */
export const FileName = (maxLength: number) => Type.String({ minLength: 1, maxLength, format: 'file-name' })

/** File names with slashes between them; it may be empty. */
export const FolderPath = (maxLength: number) => Type.String({ maxLength, format: 'folder-path' })

/** Four times the longest name in a schema, because a letter needs at most four characters. */
const MAX_CHARACTERS = 1024

/**
 * The form in which names are compared, sorted and counted, since a letter can have several spellings. A text that is
 * too long for a name is returned unchanged: normalising its accents could take seconds.
 */
export const normalized = (name: string): string => (name.length > MAX_CHARACTERS ? name : name.normalize('NFC'))

/** The signs that suppress vowels in Indic scripts: a joiner after one shapes the letter, also at the end of a word. */
const VIRAMA = '[\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d4d\\u0dca]'

const JOINER = '[\\u200c\\u200d]'

/**
 * Words in Persian, Bengali and other languages have joiners between their letters. The joiner comes first, so that no
 * other character makes the expression look back, in a text that may be long.
 */
const JOINED_LETTERS = `${JOINER}(?:(?<=${VIRAMA}${JOINER})|(?<=\\p{L}\\p{M}*${JOINER})(?=[\\p{L}\\p{M}]))`

/**
 * An emoji that joins two others, such as a person with a laptop
 * (https://www.unicode.org/reports/tr51/#Emoji_ZWJ_Sequences).
 */
const JOINED_EMOJI = '(?<=\\p{ExtPict}[\\ufe0f\\p{EMod}]?)\\u200d(?=\\p{ExtPict})'

/** Flags of regions, such as Wales, spell their names in tags, which are invisible elsewhere. */
const FLAG_TAGS = '(?<=\\u{1f3f4})[\\u{e0030}-\\u{e0039}\\u{e0061}-\\u{e007a}]{3,7}\\u{e007f}'

const JOINED = `${JOINED_LETTERS}|${JOINED_EMOJI}|${FLAG_TAGS}`

/**
 * Characters that control a terminal, break a line, or are invisible or private, and ranges that Unicode reserves for
 * more of them. Other unassigned characters are printable: a service with an older Node.js must accept new emoji.
 */
const NOT_PRINTABLE = [
  '\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Zl}\\p{Zp}\\p{Noncharacter_Code_Point}',
  '\\u2065\\ufff0-\\ufff8\\u{e0000}-\\u{e00ff}\\u{e01f0}-\\u{e0fff}',
].join('')

const CHARACTER = `[^${NOT_PRINTABLE}]|${JOINED}`
const LINE = new RegExp(`^(?!\\s)(?:${CHARACTER})*$`, 'u')
const CHARACTERS = new RegExp(CHARACTER, 'gu')

/** Whether a text can be a line, whatever its length. */
export const isLine = (text: string): boolean => LINE.test(text)

/** The printable part of any text, as a line. */
export const toLine = (text: string, maxLength: number): string => {
  const whole = printable(normalized(text)).trim()
  // The cut may split a joined emoji.
  return printable([...whole].slice(0, maxLength).join(''))
}

const printable = (text: string) => (text.match(CHARACTERS) ?? []).join('')

/** File systems allow more than lines do, such as leading spaces. */
const FILE_NAME = new RegExp(
  `^(?:[^/\\\\\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Bidi_Control}\\u200c\\u200d]|${JOINED_LETTERS}|${JOINED_EMOJI})*$`,
  'u',
)

const isFileName = (text: string): boolean => FILE_NAME.test(text) && text !== '.' && text !== '..'

const isFolderPath = (text: string): boolean =>
  text === '' ||
  text
    .replace(/^\/|\/$/g, '')
    .split('/')
    .every(name => name !== '' && isFileName(name))

/** Whether a shape has one of these formats. */
export const isNameShape = ({ format }: { format?: unknown }): boolean =>
  typeof format === 'string' && Object.hasOwn(nameFormats, format)

/** The formats for a validator of JSON Schema. */
export const nameFormats: Record<string, (text: string) => boolean> = {
  line: isLine,
  'file-name': isFileName,
  'folder-path': isFolderPath,
}
