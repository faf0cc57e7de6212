import t from 'tap'
import { statementToPdf } from '../../../../src/cli/audit/statement/pdf.ts'
import type { Brand } from '../../../../src/domain/brand.ts'
import { accountId } from '../../../support/account-samples.ts'
import { AWKWARD_NAME, awkwardBrand, HEBREW_NAME, ourBrand } from '../../../support/brands.ts'
import { ledgerEvents } from '../../../support/ledger-events.ts'
import { linked } from '../../../support/linked.ts'
import { pageStreams, pageText, pdfPages } from '../../../support/pdf-text.ts'
import { everyKind, reasons } from '../../../support/statement-samples.ts'
import { statementOf, year } from '../../../support/statements.ts'

const pdfOf = async (...args: Parameters<typeof statementOf>): Promise<Buffer> => brandedPdf(ourBrand, ...args)

const brandedPdf = async (brand: Brand, ...args: Parameters<typeof statementOf>): Promise<Buffer> => {
  const pieces: Uint8Array[] = []
  for await (const piece of statementToPdf(await statementOf(...args), brand)) pieces.push(piece)
  return Buffer.concat(pieces)
}

const textOf = (pdf: Buffer) => pdfPages(pdf).map(pageText).join('\n')

t.test('equal statements have equal bytes, and other ones another ID', async t => {
  const events = everyKind()
  const [one, same] = [await pdfOf(events), await pdfOf(events)]
  t.ok(one.equals(same))
  t.ok(one.includes('(D:20261025013000Z)'), 'it has the time of the newest event')
  const idOf = (pdf: Buffer) => /\/ID \[<([0-9a-f]+)>/.exec(pdf.toString('latin1'))?.[1]
  t.match(idOf(one), /^[0-9a-f]{32}$/)
  t.not(idOf(await pdfOf(events, { period: { ...year, zone: 'Asia/Tokyo' } })), idOf(one))
})

t.test('it shows the account, the sums, each line, and what the statement was made of', async t => {
  const text = textOf(await pdfOf(everyKind(), { period: { ...year, zone: 'Europe/Berlin' } }))
  for (const part of [
    ...['Tollgate', 'Statement of credits', accountId(), 'eve@example.com', '2026-01-01 01:00:00 +01:00'],
    ...['Opening balance', 'Granted: purchase', '+100.00', 'Released', 'Closing balance', '93.00', 'Page 1 of 1'],
    ...[
      '2026-10-25\n',
      '02:30:00.000\n',
      '+02:00\n',
      'Charged: nano-banana-2\n',
      '−10.00\n',
      '−4.00 free',
      'typed wrong',
    ],
    ...[
      'reference invoice 1',
      '25.00 EUR paid, 3.99 EUR of it tax',
      'price: base 8 + 2 (enable_web_search',
      'The log has no seal',
    ],
  ])
    t.ok(text.includes(part), part)
})

t.test('long texts are wrapped, and neither cut nor lost', async t => {
  const words = 'seventeen credits for a lighthouse '.repeat(5).trim()
  const unbroken = 'W'.repeat(200)
  const pages = pdfPages(await pdfOf(reasons([words, unbroken], `${'e'.repeat(150)}@example.com`)))
  const text = pages.map(pageText).join('\n')
  const joined = text.replaceAll(/\s+/g, '')
  t.ok(joined.includes(words.replaceAll(' ', '')))
  t.ok(joined.includes(unbroken))
  t.ok(joined.includes(`${'e'.repeat(150)}@example.com`))
  t.notMatch(text, /W{40}/, 'a word that is too long for its column is broken')
})

t.test('characters of many scripts are shown, and others by their codes', async t => {
  const shown = ['Łódź', 'Tiếng Việt', 'Привет', 'Ґанок', 'Ελλάδα', 'ἀρχή', 'café', '25 €']
  const text = textOf(await pdfOf(reasons([...shown, '山 🌊', 'cafe\u0301', '\u202e'])))
  for (const word of shown) t.ok(text.replaceAll('\n', '').includes(word), word)
  t.ok(text.includes('\\u5c71 \\u{1f30a}'))
  t.ok(text.includes('\\u202e'))
})

t.test('each page has the headings and its number, and no line is cut by its end', async t => {
  const { events, grant } = ledgerEvents()
  for (let index = 0; index < 100; index++) grant({ reference: `r${index}`, reason: `reason ${index}` })
  const pages = pdfPages(await pdfOf(linked(events)))
  t.ok(pages.length > 4)
  for (const [index, page] of pages.entries()) {
    const text = pageText(page)
    t.match(text, /^Time\nLine\nChange\nBalance$/m)
    t.ok(text.includes(`Page ${index + 1} of ${pages.length}`))
    t.equal(text.match(/^reason /gm)?.length, text.match(/^reference /gm)?.length, 'each line is whole')
    t.ok(page.every(({ x, y }) => x >= 48 && x < 548 && y > 30 && y < 800))
  }
})

t.test('a line that is longer than a page goes on on the next one', async t => {
  const { events, grant } = ledgerEvents()
  const long = '🌊'.repeat(200)
  for (const reference of [long, `${long.slice(2)}a`]) grant({ reference, reason: long })
  const pages = pdfPages(await pdfOf(linked(events)))
  const text = pages.map(pageText).join('').replaceAll(/\s+/g, '')
  t.equal(text.match(/\\u\{1f30a\}/g)?.length, 799)
  t.ok(pages.every(page => page.every(({ y }) => y > 30)))
})

t.test('figures stand below each other, and the largest ones have room', async t => {
  const { events, grant, withdraw } = ledgerEvents()
  for (const micros of [1_110_000, 4_440_000]) grant({ micros, reference: `r${micros}` })
  const xOf = (pdf: Buffer, text: string) =>
    pdfPages(pdf)
      .flat()
      .findLast(drawn => drawn.text === text)?.x
  const small = await pdfOf(linked(events))
  t.equal(xOf(small, '+1.11'), xOf(small, '+4.44'))
  grant({ micros: Number.MAX_SAFE_INTEGER - 5_550_000 })
  withdraw({ micros: 9_000_000_000_000_000 })
  const large = await pdfOf(linked(events))
  const [change, balance] = ['−9,000,000,000.000000', '7,199,254.740991'].map(text => xOf(large, text) ?? 0) as [
    number,
    number,
  ]
  t.ok(change >= 343 && change < balance, 'they do not reach the column beside them')
})

t.test('a period without lines says so', async t => {
  const period = { ...year, from: '2026-12-01T00:00:00.000Z' }
  t.match(textOf(await pdfOf(everyKind(), { period })), 'No credits moved in this period.')
})

t.test('the letterhead has the logo, name and colour of the operator, also with equal bytes', async t => {
  const [one, same] = [await brandedPdf(awkwardBrand, everyKind()), await brandedPdf(awkwardBrand, everyKind())]
  t.ok(one.equals(same))
  const [first = []] = pdfPages(one)
  const name = first.slice(
    0,
    first.findIndex(({ text }) => text === 'Statement of credits'),
  )
  t.equal(name.map(({ text }) => text).join(''), AWKWARD_NAME)
  t.ok(Number(name[0]?.x) > 48 + 2 * 24, 'it stands beside the logo, which is twice as wide as high')
  t.match(one.toString('latin1'), /\/Subtype \/Image[\s\S]*?\/Width 288\n\/Height 144\n/)
  const [page = ''] = pageStreams(one)
  t.match(page, /0\.70\d* 0\.14\d* 0\.11\d* scn/, 'the name has the colour')
  t.match(page, /0\.70\d* 0\.14\d* 0\.11\d* SCN/, 'and so has the rule')
})

t.test('a name of forty wide letters leaves the title its room', async t => {
  const [page = ''] = pageStreams(await brandedPdf({ ...awkwardBrand, name: 'W'.repeat(40) }, everyKind()))
  const [, size = ''] = /\/F\d+ (\S+) Tf/.exec(page) ?? []
  t.ok(Number(size) > 6 && Number(size) < 9, size)
})

t.test('a name that the fonts cannot write is left to the logo', async t => {
  const hebrew = { ...awkwardBrand, name: HEBREW_NAME }
  t.notMatch(textOf(await brandedPdf(hebrew, everyKind())), '\\u05')
  t.match(textOf(await brandedPdf({ ...hebrew, logo: undefined }, everyKind())), '\\u05d1')
})
