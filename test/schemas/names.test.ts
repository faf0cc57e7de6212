import t from 'tap'
import { isLine, nameFormats, normalized, toLine } from '../../schemas/names.ts'

const isFileName = (text: string) => nameFormats['file-name']?.(text)
const isFolderPath = (text: string) => nameFormats['folder-path']?.(text)

/** Words and emoji with joiners, and with invisible tags. */
const joined = [
  'می\u200cخواهم',
  'क्\u200dष',
  'ক্\u200cষ',
  'র\u200d্যাব',
  'അവന്\u200d',
  'ශ්\u200dරී ලංකා',
  '👩\u200d💻',
  '👩🏽\u200d💻',
  '👩🏽\u200d❤\ufe0f\u200d💋\u200d👨🏻',
  '🏳\ufe0f\u200d🌈',
  '👨\u200d👩\u200d👧\u200d👦',
  '🐦\u200d⬛',
  '🏴\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}',
]

/** Characters that hide, or that change how what follows is shown. */
const hidden = [
  ...[
    'a\u200d',
    '\u200da',
    'a\u200d b',
    'a\u200c',
    '\u200c',
    '\u200d',
    'a\u200d1',
    '👩\u200d',
    '👩\u200da',
    'a\u200d💻',
    'ا\u200c\u200cب',
  ],
  ...['a\u202eb', '\u2066a\u2069', '\u200e', '\u061c', 'a\u0000', '\u001b[31m', 'a\u0085b', 'a\u2028b', 'a\nb'],
  ...[
    'a\u{e0041}',
    '🏴\u{e0067}',
    '🏴\u{e007f}',
    `🏴${'\u{e0061}'.repeat(8)}\u{e007f}`,
    '💻\u{e0067}\u{e0062}\u{e0077}\u{e007f}',
  ],
]

/** A text without the characters that would end a line of the test's report. */
const shown = (text: string) => JSON.stringify(text).replace(/[^ -~]/gu, escape)

t.test('joiners in words and emoji, and the tags of flags, are part of a line and of a file name', async t => {
  for (const text of joined) {
    t.ok(isLine(text), text)
    t.ok(isLine(`${text} ${text}`), text)
    t.ok(isFileName(`${text}.png`), text)
  }
})

t.test('characters that hide, or that turn the text around, are not', async t => {
  for (const text of hidden) t.notOk(isLine(text), shown(text))
  for (const text of hidden.slice(0, 20)) t.notOk(isFileName(`${text}.png`), shown(text))
})

t.test('a line does not begin with a blank, and has characters of any script', async t => {
  for (const text of [
    ' a',
    '\u00a0a',
    '\u3000a',
    '\ufeffa',
    '\u00ad',
    'a\u200bb',
    '\ue000',
    '\u{10ffff}',
    '\ufff0',
    '\u{e0080}',
  ])
    t.notOk(isLine(text), shown(text))
  for (const text of ['a', 'a ', 'é', 'e\u0301', '山田', '=1+1', '🏔', '❤\ufe0f', '辻\u{e0100}'])
    t.ok(isLine(text), text)
})

t.test('an emoji that this Node.js does not know is part of a line, since another one may know it', async t => {
  // Unassigned in Unicode 17.
  t.notOk(/\p{Assigned}/u.test('\u{1faff}'))
  t.ok(isLine('\u{1faff}'))
})

t.test('a file name is one name in a path', async t => {
  for (const text of [' a.png', '.a', '...', 'a b', 'Bildschirmfoto 9.41\u202fAM.png', '\uf022', '山.png'])
    t.ok(isFileName(text), text)
  for (const text of ['.', '..', 'a/b', 'a\\b', '/', 'a\nb', '\ud800']) t.notOk(isFileName(text), shown(text))
})

t.test('a folder path consists of file names', async t => {
  for (const text of ['', 'a', '/a/', 'a/b', '/a/b/c', 'می\u200cخواهم/b']) t.ok(isFolderPath(text), text)
  for (const text of ['/', '//', 'a//b', '//a', '..', 'a/..', './a', 'a/../b', 'a\\b', 'a/\u202e/b'])
    t.notOk(isFolderPath(text), text)
})

t.test('the name that somebody else chose becomes a line', async t => {
  for (const text of joined) t.equal(toLine(text, 64), text.normalize('NFC'))
  for (const text of hidden) t.ok(isLine(toLine(text, 64)), shown(text))
  t.equal(toLine(' a\u202e\u0000b ', 64), 'ab')
  t.equal(toLine('e\u0301', 1), 'é')
  t.equal(toLine('👩\u200d💻', 2), '👩')
  t.equal(toLine('\u200d', 64), '')
})

t.test('a text far too long for a name is checked at once, and not normalized', async t => {
  // To sort these accents would take minutes, and to look back from each of them for a letter, too.
  const accents = `a${'\u0315\u0300'.repeat(250_000)}`
  t.equal(normalized(accents), accents)
  t.notOk(isLine(`${accents}\u200d`))
  t.notOk(isFileName(`${accents}\u200d`))
  t.equal(normalized('e\u0301'), 'é')
})
