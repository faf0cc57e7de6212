import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { BrowserClient } from '../support/browser-client.ts'
import { pixelsOf } from '../support/pixels.ts'
import { openAccount, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const service = await startService(t)
const stranger = new BrowserClient(service.url)

const commandsOn = (html: string) =>
  [...html.matchAll(/<code[^>]*>(.*?)<\/code>/gs)]
    .map(([, code = '']) =>
      code
        .replaceAll(/<[^>]*>/g, '')
        .replaceAll('&quot;', '"')
        .replaceAll('&#39;', "'")
        .replaceAll('&amp;', '&'),
    )
    .filter(code => code.startsWith('curl'))

const runShell = async (command: string, apiKey: string) => {
  const env = { ...process.env, TOLLGATE_API_KEY: apiKey }
  return JSON.parse((await promisify(execFile)('sh', ['-c', command], { env })).stdout)
}

t.test('a stranger with a browser finds the models with a sample and a price each', async t => {
  const { status, headers, text } = await stranger.get('/')
  t.equal(status, 200)
  t.match(headers.get('Content-Type'), /^text\/html/)
  t.match(headers.get('Content-Security-Policy'), /^default-src 'none'/)
  t.match(text, 'Start with 100 free credits')
  t.match(text, 'Nano Banana 2</a>')
  t.match(text, /title="10 – 81.5 credits a run">from 10 credits</)
  t.match(text, /title="0.00075 – 79.6608 credits a run">150 credits in, 600 out per million tokens</)
  const [src = '', other = ''] = [...text.matchAll(/<img src="([^"]+)"/g)].map(([, path = '']) => path)
  const sample = await stranger.get(src)
  t.match([sample.status, sample.headers.get('Content-Type')], [200, 'image/jpeg'])
  t.equal((await stranger.get(src)).text, sample.text, 'it is kept')
  t.not((await stranger.get(other)).text, sample.text)
  t.match(commandsOn(text), [/\/v1\/run'.*TOLLGATE_API_KEY.*nano-banana-2/s])
  for (const name of ['unknown', '..%2Fsecret', 'constructor'])
    t.equal((await stranger.get(`/console/samples/${name}`)).status, 404, name)
})

t.test('the picture beside the sign-in form is what the first request makes', async t => {
  const customer = await openAccount(service)
  const [, src = ''] = /<img [^>]*src="([^"]+)"/.exec((await stranger.get('/console/sign-in')).text) ?? []
  const [request] = commandsOn((await stranger.get('/docs/first-request')).text)
  const run = await runShell(request ?? '', customer.apiKey)
  t.match(run, { object: 'run', status: 'completed', credits_charged: 10 })
  t.match(await readFile('README.md', 'utf8'), request?.split(' -d ').at(-1), 'README has the same request')
  const bytesAt = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())
  // The sandbox also writes into its files how they were made.
  const [made, shown] = [
    await pixelsOf(await bytesAt(run.output.url)),
    await pixelsOf(await bytesAt(service.url + src)),
  ]
  t.ok(made.equals(shown))
})

t.test('it leads to sign-in, the reference and the documentation', async t => {
  const { text } = await stranger.get('/')
  const links = [...new Set([...text.matchAll(/href="(\/[^"]*)"/g)].map(([, path = '']) => path))]
  for (const path of ['/console/sign-in', '/docs', '/docs/reference']) t.ok(links.includes(path), path)
  for (const path of links) t.ok([200, 303].includes((await stranger.get(path)).status), path)
})

t.test('somebody who has signed in finds their account, also where there is no page', async t => {
  const browser = new BrowserClient(service.url)
  await browser.signIn(service, 'grace@example.com')
  const outside = / href="\/console">Console</
  for (const [path, shown] of [
    ['/', outside],
    ['/docs/first-request', outside],
    ['/console/unknown', />Balance<strong>100</],
    ['/console/identities', 'Add a way to sign in'],
  ] as const) {
    const { text } = await browser.get(path)
    t.match(text, shown, path)
    t.notMatch(text, />Sign in<|free credits/, path)
  }
  await browser.post('/console/identities', { email: 'hopper@example.com' })
  t.match((await browser.get('/console/identities/code')).text, 'Add the address')
  t.match((await stranger.get('/console/unknown')).text, />Sign in</)
})

t.test('every command of the documentation works', async t => {
  const customer = await openAccount(service)
  const commands = commandsOn((await stranger.get('/docs/first-request')).text)
  t.ok(commands.length >= 4)
  const answers: { object: string; run_id?: string; status?: string }[] = []
  for (const command of commands)
    answers.push(await runShell(command.replace('run_…', answers.at(-1)?.run_id ?? ''), customer.apiKey))
  t.match(
    answers.map(({ object }) => object),
    ['run', 'quote', 'run', 'run', 'run'],
  )
  t.equal(answers.at(-1)?.status, 'completed', 'the video')
})

t.test('prices of all models are for people who have signed in, unless the descriptions are public', async t => {
  t.notMatch((await stranger.get('/docs/first-request')).text, 'veo-3-1')
  const browser = new BrowserClient(service.url)
  await browser.signIn(service, 'ada@example.com')
  t.match((await browser.get('/docs/first-request')).text, /<code[^>]*>veo-3-1<\/code>/)
  const open = await startService(t, { environment: { PUBLIC_DESCRIPTORS: 'true' } })
  t.match((await new BrowserClient(open.url).get('/docs/first-request')).text, /<code[^>]*>veo-3-1<\/code>/)
})

t.test('a service that opens no accounts says so', async t => {
  const closed = await startService(t, { environment: { REGISTRATION: 'closed' } })
  const { text } = await new BrowserClient(closed.url).get('/')
  t.notMatch(text, 'free credits')
})

const WORDS = `# Pictures & <b>Sons</b>

We make **pictures**. [Ask us](https://example.com/ask), or [run](javascript:alert(1)) <img src=x onerror=alert(1)>.

---

[Imprint](https://example.com/imprint) · [Terms](/terms)
`

t.test('the words of the operator take the place of ours', async t => {
  const file = join(await temporaryFolder(t), 'words.md')
  await writeFile(file, WORDS.replaceAll('\n', '\r\n'))
  const own = await startService(t, { environment: { SERVICE_NAME: 'Sons', BRAND_TEXT_FILE: file } })
  const { text } = await new BrowserClient(own.url).get('/')
  t.match(text, '<title>Pictures &amp; &lt;b>Sons&lt;/b> – Sons</title>')
  t.match(text, /<h1[^>]*>Pictures &amp; &lt;b>Sons&lt;\/b><\/h1>/)
  t.match(text, 'We make <strong>pictures</strong>')
  t.match(text, '<a href="https://example.com/ask" rel="noreferrer">Ask us</a>')
  t.notMatch(text, /href="javascript|<b>|<img src=x/)
  const [, foot = ''] = /<footer[^>]*>(.*?)<\/footer>/s.exec(text) ?? []
  t.match(foot, '>Imprint</a> · <a href="/terms">Terms</a>')
  const reader = new BrowserClient(own.url)
  for (const path of ['/docs', '/docs/first-request', '/console/sign-in', '/terms'])
    t.match((await reader.get(path, { Accept: 'text/html' })).text, foot, path)
  t.match(text, 'Start with 100 free credits')
  t.match(text, 'Nano Banana 2</a>')
  t.notMatch(text, /Every model|Charged once|<hr/)
  t.match((await stranger.get('/')).text, /Every model\..*Charged once/s)
  t.notMatch((await stranger.get('/')).text, 'prose foot')
})
