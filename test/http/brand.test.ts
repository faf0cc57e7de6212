import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { connect, revisions } from '../mcp/support.ts'
import { readByHledger } from '../support/book-keepers.ts'
import { AWKWARD_NAME, awkwardBrand, HEBREW_NAME } from '../support/brands.ts'
import { BrowserClient, messagesIn } from '../support/browser-client.ts'
import { needsPrograms } from '../support/needs.ts'
import { pageText, pdfPages } from '../support/pdf-text.ts'
import { openAccount, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

const start = async (t: Test, name: string) => {
  const logo = join(await temporaryFolder(t), 'logo.svg')
  await writeFile(logo, awkwardBrand.logo?.bytes ?? '')
  return startService(t, {
    environment: { SERVICE_NAME: name, BRAND_LOGO_FILE: logo, BRAND_COLOR: '#b3261e', PUBLIC_DESCRIPTORS: 'true' },
  })
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** The headers of a message by their names, with encoded words (RFC 2047) decoded. */
const headersOf = (message: string): Record<string, string> => {
  const [head = ''] = message.split('\r\n\r\n')
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
  return Object.fromEntries(lines.map(line => line.split(/: (.*)/s)).map(([name, text = '']) => [name, decoded(text)]))
}

const decoded = (text: string) =>
  text.replaceAll(/\?= (?==\?)/g, '?=').replaceAll(/=\?UTF-8\?([QB])\?(.*?)\?=/g, (_, form, word: string) => {
    if (form === 'B') return Buffer.from(word, 'base64').toString()
    const bytes = word
      .replaceAll('_', ' ')
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)))
    return Buffer.from(bytes, 'latin1').toString()
  })

for (const name of [AWKWARD_NAME, HEBREW_NAME]) {
  t.test(`${name}: mail comes from the service by its name`, async t => {
    const service = await start(t, name)
    const browser = new BrowserClient(service.url)
    await browser.signIn(service, 'ada@example.com')
    await browser.post('/console/identities', { email: 'grace@example.com' })
    const messages = await until('both messages are written', async () => {
      const found = (await messagesIn(service)).map(headersOf)
      return found.length === 2 && found
    })
    const bare = name.replaceAll('"', '\\"')
    t.match(messages, [
      { Subject: `Your code to sign in to ${name}`, To: 'ada@example.com' },
      { Subject: `Your code to add this address to a ${name} account`, To: 'grace@example.com' },
    ])
    for (const { From = '', ...rest } of messages) {
      t.ok([`${name} <tollgate@localhost>`, `"${bare}" <tollgate@localhost>`].includes(From), From)
      t.same(
        Object.keys(rest).filter(header => !KNOWN_HEADERS.includes(header)),
        [],
        'the name adds no header',
      )
    }
  })

  t.test(`${name}: pages and descriptions have its name, and no markup of it`, async t => {
    const service = await start(t, name)
    const browser = new BrowserClient(service.url)
    await browser.signIn(service, 'ada@example.com')
    for (const path of [
      '/',
      '/docs',
      '/docs/reference',
      '/console/sign-in',
      '/console/playground',
      '/console/unknown',
    ]) {
      const { text } = await browser.get(path)
      if (path !== '/console/sign-in') t.match(text, `– ${escaped(name)}</title>`, path)
      t.notMatch(text, '<KG>', path)
    }
    const { body: document } = await browser.send<{ info: object }>('GET', '/v1/openapi.json')
    t.match(document.info, { title: name })
    t.equal((await browser.get('/llms.txt')).text.split('\n')[0], `# ${name}`)
    t.match(await browser.send('GET', '/.well-known/mcp'), { body: { name: 'localhost/tollgate', title: name } })
    for (const revision of revisions) {
      const client = await connect(t, await openAccount(service), revision)
      t.match(client.getServerVersion(), { name: 'tollgate', title: name })
    }
  })
}

const KNOWN_HEADERS = [
  ...['Subject', 'To', 'Auto-Submitted', 'Message-ID', 'Date', 'MIME-Version'],
  ...['Content-Type', 'Content-Transfer-Encoding'],
]

t.test('files of the statement have the name, and the PDF the logo', needsPrograms('hledger'), async t => {
  const service = await start(t, AWKWARD_NAME)
  const browser = new BrowserClient(service.url)
  await browser.signIn(service, 'ada@example.com')
  const period = 'from=2020-01-01&to=2100-01-01'
  const { balances } = await readByHledger(t, (await browser.get(`/console/credits/statement.hledger?${period}`)).text)
  t.same(balances, {
    'Assets:Großartige%3A "Bilder" & Co.%3B%20 <KG>': 100e6,
    'Equity:Granted': -100e6,
  })
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const answer = await fetch(`${service.url}/console/credits/statement.pdf?${period}`, { headers: { cookie } })
  const pdf = Buffer.from(await answer.arrayBuffer())
  t.ok(pdfPages(pdf).map(pageText).join('\n').replaceAll('\n', '').includes(AWKWARD_NAME))
  t.ok(pdf.includes('/Subtype /Image'))
})
