import type { Figure, Sheet, SheetRow, SummaryRow } from '../../../audit/statement/sheet.ts'
import type { Statement } from '../../../audit/statement/statement.ts'
import type { Brand } from '../../../domain/brand.ts'
import { sheetOf } from './sheet.ts'

/** A statement as one HTML file for a browser or printer, in pieces. The file runs no scripts and loads nothing. */
export function* statementToHtml(statement: Statement, brand: Brand): Generator<string> {
  const sheet = sheetOf(statement)
  const name = `${sheet.title}, ${statement.account.accountId}`
  yield HEAD.replace('ACCENT', brand.color ?? '#111').replace('TITLE', () => escaped(name))
  yield `<header>${letterhead(brand)}<h1>${escaped(sheet.title)}</h1></header>\n`
  yield `<section class="blocks">${factsOf(sheet)}${summaryOf(sheet)}</section>\n`
  yield `<table class="lines">\n<thead><tr>${COLUMNS}</tr></thead>\n<tbody>\n`
  for (const row of sheet.rows) yield rowOf(row, sheet)
  yield `</tbody>\n</table>\n`
  if (sheet.rows.length === 0) yield '<p class="none">No credits moved in this period.</p>\n'
  yield `<footer>${sheet.notes.map(note => `<p>${escaped(note)}</p>`).join('\n')}</footer>\n</body>\n</html>\n`
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, character => ENTITIES[character] as string)

const letterhead = ({ name, logo }: Brand): string => {
  const image = logo ? `<img src="data:${logo.type};base64,${Buffer.from(logo.bytes).toString('base64')}" alt="">` : ''
  return `<p class="brand">${image}<bdi>${escaped(name)}</bdi></p>`
}

const COLUMNS = '<th>Time</th><th>Line</th><th class="figure">Change</th><th class="figure">Balance</th>'

const factsOf = ({ facts }: Sheet): string =>
  `<dl>${facts.map(([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`).join('\n')}</dl>\n`

const summaryOf = ({ summary }: Sheet): string => {
  const head = ['', 'Free', 'Paid', 'Total'].map(name => `<th class="figure">${name}</th>`).join('')
  const rows = summary.map(summaryRow).join('')
  return `<table class="summary">\n<thead><tr>${head}</tr></thead>\n<tbody>\n${rows}</tbody>\n</table>`
}

const summaryRow = ({ name, free, paid, total, isBalance }: SummaryRow): string => {
  const figures = [free, paid, total].map(figure => `<td class="figure">${escaped(figure)}</td>`).join('')
  return `<tr${isBalance ? ' class="balance"' : ''}><th>${escaped(name)}</th>${figures}</tr>\n`
}

const rowOf = ({ at, what, details, amount, balance }: SheetRow, { hasOffsets }: Sheet): string => {
  const time = [at.day, at.time, ...(hasOffsets ? [at.offset] : [])].map(escaped).join('<br>')
  const words = [`<b>${escaped(what)}</b>`, ...details.map(detail => `<div>${escaped(detail)}</div>`)].join('')
  const figures = figureOf(amount) + figureOf(balance)
  return `<tr><td class="time">${time}</td><td class="words">${words}</td>${figures}</tr>\n`
}

const figureOf = ({ total, parts }: Figure): string => {
  const shown = parts.filter(part => part !== '0').map(part => `<div>${escaped(part)}</div>`)
  return `<td class="figure"><b>${escaped(total)}</b>${shown.join('')}</td>`
}

/**
 * The policy keeps a browser from running scripts or loading anything, even if escaping fails. The file contains the
 * logo.
 */
const HEAD = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>TITLE</title>
<style>
@page { size: A4; margin: 18mm 16mm 20mm;
  @bottom-right { content: "page " counter(page) " of " counter(pages); font: 8pt sans-serif; color: #444 } }
:root { color-scheme: light; --accent: ACCENT }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 190mm; padding: 12mm 6mm; background: #fff; color: #111;
  font: 10pt/1.4 Inter, "Helvetica Neue", Arial, "Noto Sans", sans-serif;
  font-variant-numeric: tabular-nums lining-nums }
header { border-bottom: 2pt solid var(--accent); margin-bottom: 6mm }
.brand { display: flex; align-items: center; gap: 3mm; margin: 0; color: var(--accent); font-weight: 600 }
.brand img { height: 8mm; max-width: 56mm }
h1 { margin: 1mm 0 3mm; font-size: 18pt }
.blocks { margin-bottom: 7mm }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 6mm; margin: 0 0 5mm }
dt, .summary tbody th { color: #444; font-weight: 400 }
dt::first-letter, .summary tbody th::first-letter, .words b::first-letter { text-transform: uppercase }
dd { margin: 0; overflow-wrap: anywhere }
table { border-collapse: collapse; width: 100% }
thead { display: table-header-group }
thead th { border-bottom: 1pt solid #111; font-size: 8.5pt; text-align: left }
th, td { padding: 1.2mm 2mm 1.2mm 0; text-align: left; vertical-align: top }
tr { break-inside: avoid }
.lines tbody tr, .summary tbody tr { border-bottom: .5pt solid #ccc }
.summary .balance * { color: #111; font-weight: 600 }
th.figure, td.figure { padding: 1.2mm 0 1.2mm 4mm; text-align: right; white-space: nowrap }
.time { white-space: nowrap; font-size: 9pt }
.words { width: 60%; overflow-wrap: anywhere }
.words b { display: block }
.words div, .figure div { color: #444; font-size: 8.5pt }
.none { color: #444 }
footer { margin-top: 6mm; border-top: .5pt solid #999; color: #444; font-size: 8.5pt; overflow-wrap: anywhere;
  break-inside: avoid }
footer p { margin: 1.5mm 0 }
@media print { body { max-width: none; padding: 0 } }
</style>
</head>
<body>
`
