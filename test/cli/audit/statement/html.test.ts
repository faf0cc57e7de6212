import t from 'tap'
import { statementToHtml } from '../../../../src/cli/audit/statement/html.ts'
import { awkwardBrand, ourBrand } from '../../../support/brands.ts'
import { everyKind, reasons } from '../../../support/statement-samples.ts'
import { joined, statementOf, year } from '../../../support/statements.ts'

const htmlOf = async (...args: Parameters<typeof statementOf>) =>
  joined(statementToHtml(await statementOf(...args), ourBrand))

t.test('every text is escaped', async t => {
  const html = await htmlOf(reasons([`<script>alert("x")</script> & 'y'`, '\u202eevil\u0000'], '<b>@example.com'))
  t.match(html, '&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;y&#39;')
  t.match(html, '<dd>&lt;b&gt;@example.com</dd>')
  t.match(html, '\\u202eevil\\u0000')
  t.notMatch(html, /<script|<b>@/)
})

t.test('the page runs and loads nothing, and its policy says so', async t => {
  const html = await htmlOf(everyKind())
  t.match(html, `content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"`)
  t.notMatch(html, /\b(src|href)=|url\(|@import|<script|<link|<img|https?:/i)
})

t.test('it prints on A4 with headings on each page, without cutting a line', async t => {
  const html = await htmlOf(everyKind())
  t.match(html, /@page \{ size: A4;/)
  t.match(html, 'thead { display: table-header-group }')
  t.match(html, 'tr { break-inside: avoid }')
  t.match(html, 'tabular-nums')
})

t.test('each line has its words, and its figures with as many decimals', async t => {
  const html = await htmlOf(everyKind(), { period: { ...year, zone: 'Europe/Berlin' } })
  const rows = html.slice(html.indexOf('<table class="lines">')).match(/<tr><td.*<\/tr>/g) ?? []
  t.equal(rows.length, 7)
  t.match(rows[0], '2026-10-25<br>02:30:00.000<br>+02:00')
  t.match(rows[2], '2026-10-25<br>02:30:00.000<br>+01:00')
  t.match(rows[2], '<b>−10.00</b><div>−4.00 free</div><div>−6.00 paid</div>')
  t.match(rows[2], 'price: base 8 + 2 (enable_web_search is true: $2 at $1 a credit) = 10')
  t.match(rows[6], 'released: gpt-6-1-terra')
  t.match(html, '<th>opening balance</th><td class="figure">0.00</td>')
  t.match(html, 'The log has no seal')
})

t.test('it has the name, logo and colour of the operator', async t => {
  const html = joined(statementToHtml(await statementOf(everyKind()), awkwardBrand))
  t.match(html, '<bdi>Großartige: &quot;Bilder&quot; &amp; Co.;  &lt;KG&gt;</bdi>')
  t.match(html, '--accent: #b3261e }')
  const [, logo = ''] = /<img src="data:image\/svg\+xml;base64,([^"]+)" alt="">/.exec(html) ?? []
  t.equal(Buffer.from(logo, 'base64').toString(), awkwardBrand.logo?.bytes.toString())
  t.match(await htmlOf(everyKind()), '<p class="brand"><bdi>Tollgate</bdi></p>')
})
