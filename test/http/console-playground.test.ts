import { randomUUID } from 'node:crypto'
import t from 'tap'
import { BrowserClient } from '../support/browser-client.ts'
import { startService } from '../support/service.ts'

const PLAYGROUND = '/console/playground'
const FRAGMENT = { 'HX-Request': 'true' }

const service = await startService(t, { environment: { TRUSTED_PROXIES: '127.0.0.1', WELCOME_CREDITS: '1000' } })

let owners = 0

const openOwner = async () => {
  const browser = new BrowserClient(service.url)
  await browser.signIn(service, `owner-${++owners}@example.com`)
  const runs = async () => JSON.parse((await browser.get('/v1/runs')).text).data as { run_id: string }[]
  return { browser, runs }
}

/** What names the next run of a form on a page. */
const attemptOn = (html: string, action = PLAYGROUND): string => {
  const form = html.split('<form').find(part => part.includes(`action="${action}"`)) ?? ''
  return / name="attempt" value="([^"]+)"/.exec(form)?.[1] ?? ''
}

const picture = { model: 'nano-banana-2', 'in.prompt': 'a lighthouse' }

t.test('a form that is sent twice runs once, and the next form runs again', async t => {
  const { browser, runs } = await openOwner()
  const sent = { ...picture, attempt: attemptOn((await browser.get(PLAYGROUND)).text) }
  const [first, second] = await Promise.all([browser.post(PLAYGROUND, sent), browser.post(PLAYGROUND, sent)])
  t.match(first, { status: 303, location: /&run=run_/ })
  t.equal(second?.location, first?.location)
  t.equal((await browser.post(PLAYGROUND, sent)).location, first?.location, 'as a browser repeats after a crash')
  t.equal((await runs()).length, 1)
  await browser.post(PLAYGROUND, { ...picture, attempt: attemptOn((await browser.get(first?.location ?? '')).text) })
  t.equal((await runs()).length, 2)
})

t.test('a script of the page gets what makes the next run another one', async t => {
  const { browser, runs } = await openOwner()
  const sent = { ...picture, attempt: attemptOn((await browser.get(PLAYGROUND)).text) }
  const [first] = await Promise.all([
    browser.post(PLAYGROUND, sent, FRAGMENT),
    browser.post(PLAYGROUND, sent, FRAGMENT),
  ])
  t.equal((await runs()).length, 1)
  const [, attempt = ''] = /<input[^>]* name="attempt" value="([^"]+)"[^>]* hx-swap-oob/.exec(first?.text ?? '') ?? []
  t.match(attempt, /./)
  t.not(attempt, sent.attempt)
  await browser.post(PLAYGROUND, { ...sent, attempt }, FRAGMENT)
  t.equal((await runs()).length, 2)
})

t.test('the last runs tell themselves apart, also those without a picture', async t => {
  const { browser, runs } = await openOwner()
  const sent = [
    picture,
    { model: 'eleven-v3', 'in.text': 'Good evening.' },
    { model: 'gpt-6-1-terra', 'in.prompt': 'Write of the sea.' },
  ]
  for (const form of sent) await browser.post(PLAYGROUND, { ...form, attempt: randomUUID() })
  await browser.post(PLAYGROUND, { model: 'veo-3-1-fast', 'in.prompt': 'a boat', attempt: randomUUID() }, FRAGMENT)
  const [film] = await runs()
  await browser.post(`${PLAYGROUND}/cancel`, { run: film?.run_id ?? '' }, FRAGMENT)
  const { text } = await browser.get(PLAYGROUND)
  const [strip = ''] = /<ul class="strip".*?<\/ul>/s.exec(text) ?? []
  const items = strip.split('<li>').slice(1)
  for (const [at, shown] of [
    /aria-label="Veo 3.1 Fast, Cancelled, run_\w+".*>Cancelled</,
    /tile-words" dir="auto">[^<]{20,}…</,
    /data-wave="[^"]+\.mp3"/,
    /<img src="\/console\/runs\/run_\w+\/thumbnail"/,
  ].entries())
    t.match(items[at], shown)
})

t.test('a form that was changed after it ran is not taken for the same', async t => {
  const { browser, runs } = await openOwner()
  const sent = { ...picture, attempt: attemptOn((await browser.get(PLAYGROUND)).text) }
  await browser.post(PLAYGROUND, sent)
  const changed = { ...sent, 'in.prompt': 'a volcano' }
  const refused = await browser.post(PLAYGROUND, changed)
  t.match(refused, { status: 422, text: /The form has changed since it ran/ })
  t.equal((await runs()).length, 1)
  const again = { ...changed, attempt: attemptOn(refused.text) }
  t.equal((await browser.post(PLAYGROUND, again)).status, 303, 'the form that says so runs it')
  t.equal((await runs()).length, 2)
})

t.test('a run that is made again twice by one form is made once more', async t => {
  const { browser, runs } = await openOwner()
  const { location } = await browser.post(PLAYGROUND, { ...picture, 'in.seed': '7' })
  const [, run = ''] = /run=(\w+)/.exec(location ?? '') ?? []
  t.match(attemptOn((await browser.get(location ?? '')).text, `${PLAYGROUND}/again`), /^[0-9a-f-]{36}$/)
  for (const more of [{}, { vary: 'seed' }]) {
    const before = (await runs()).length
    const form = { run, attempt: crypto.randomUUID(), ...more }
    await Promise.all([browser.post(`${PLAYGROUND}/again`, form), browser.post(`${PLAYGROUND}/again`, form)])
    t.equal((await runs()).length, before + 1)
  }
})

t.test('JSON that a run could not have is refused with its fault', async t => {
  const { browser, runs } = await openOwner()
  const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`name${at}`, at])))
  for (const [json, fault] of [
    [`{"prompt": "x", "other": ${deep(20_000)}}`, /The input has more than 10000 values/],
    [`{"prompt": "x", "other": ${deep(100)}}`, /other is nested too deeply/],
    ['{"prompt": "\\ud800"}', /prompt is not well-formed Unicode/],
    ['{"prompt": "x", "seed": 1e400}', /seed is too large/],
    ['{"prompt": "x", "seed": 9007199254740993}', /seed is beyond 9007199254740991/],
    [wide, /The input has more than 2000 names/],
    ['{"prompt": "x"', /The input is not a JSON object/],
    ['[1]', /The input is not a JSON object/],
  ] as const) {
    const form = { model: 'nano-banana-2', shown: 'json', view: 'json', json }
    for (const [path, status] of [
      [PLAYGROUND, 400],
      [`${PLAYGROUND}/form`, 200],
      [`${PLAYGROUND}/price`, 200],
    ] as const) {
      const reply = await browser.post(path, form)
      t.equal(reply.status, status, `${path} ${json.slice(0, 30)}`)
      t.match(reply.text, fault)
    }
  }
  t.same(await runs(), [])
})

t.test('models are chosen by kind, also when the query is the word for one', async t => {
  const { browser } = await openOwner()
  const kindsOn = async (query: string) => {
    const { text } = await browser.get(`${PLAYGROUND}/models?${query}`)
    const current = /class="segments kinds".*?aria-current="true"[^>]*>(\w+)</s.exec(text)?.[1]
    return [current, ...[...text.matchAll(/id="group-(\w+)"/g)].map(([, kind]) => kind)]
  }
  t.same(await kindsOn(''), ['All', 'image', 'video', 'audio', 'text'])
  t.same(await kindsOn('kind=video'), ['Videos', 'video'])
  for (const [query, ...kinds] of [
    ['text', 'Text', 'text'],
    ['Film', 'Videos', 'video'],
    ['video', 'Videos', 'video'],
    ['pictures', 'Images', 'image'],
    ['image', 'Images', 'image'],
    ['sound', 'Sound', 'audio'],
    ['speech', 'Sound', 'audio'],
    ['music', 'Sound', 'audio'],
  ] as const)
    t.same(await kindsOn(`q=${query}`), kinds, query)
  t.same(await kindsOn('kind=text&q=banana'), ['Text'])
  t.match(
    (await browser.get(`${PLAYGROUND}/models?kind=text&q=banana`)).text,
    /No model matches “banana”.*href="\/console\/playground\/models">Show all models/s,
  )
  const { text } = await browser.get(`${PLAYGROUND}/models?q=banana&model=flux-2-pro`)
  t.match(text, 'href="/console/playground/models?kind=video&amp;q=banana&amp;model=flux-2-pro"')
})

t.test('a result of the sandbox says whether it was charged', async t => {
  const { browser } = await openOwner()
  const first = await browser.get(PLAYGROUND)
  t.match(first.text, />Sample</, 'the first picture is none of a run')
  t.match(first.text, /run-bar.*The sandbox makes a sample, charged all the same/s)
  const { location } = await browser.post(PLAYGROUND, picture)
  t.match(
    (await browser.get(location ?? '')).text,
    /had no provider .*the sandbox made a sample, and charged as the model/,
  )
  await browser.post('/console/mode', { mode: 'test' })
  t.notMatch((await browser.get(PLAYGROUND)).text, 'charged all the same', 'a test run costs nothing')
})

t.test('an input that made a run fail is marked, and is not tried with another seed', async t => {
  const { browser } = await openOwner()
  const unusable = { ...picture, 'in.image_url': 'https://nowhere.invalid/a.png', 'in.seed': '7' }
  const { location } = await browser.post(PLAYGROUND, unusable)
  const { text } = await browser.get(location ?? '')
  t.match(text, 'data-faulty="image_url"')
  t.match(text, 'Again')
  t.notMatch(text, 'Vary the seed')
})
