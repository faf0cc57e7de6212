import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { AccountId, RunId } from '../../schemas/primitives.ts'
import { toMicros } from '../../src/domain/money.ts'
import { BrowserClient, wordsOf } from '../support/browser-client.ts'
import { caughtUp } from '../support/caught-up.ts'
import { Client, picture, sandbox } from '../support/client.ts'
import { startReceiver, status, untilRecorded } from '../support/receiver.ts'
import { picture as samplePicture } from '../support/sample-files.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'
import { FAL_KEY, startFal } from '../support/vendors/fal.ts'
import { generated, googleError, googleKey, startGoogle } from '../support/vendors/google.ts'
import { reply } from '../support/vendors/vendor-server.ts'

const environment = { ALLOW_PRIVATE_WEBHOOKS: 'true', TRUSTED_PROXIES: '127.0.0.1' }
const service = await startService(t, { environment })
const { core } = service
const operator = { kind: 'operator', name: 'test' } as const

/** A client with a key, and the browser of the same account. */
const openOwner = async (email: string, credits = 1000, at = service) => {
  const { core } = at
  const opening = {
    email,
    tester: true,
    welcomeMicros: toMicros(credits),
    key: { name: 'website', scope: 'full' } as const,
  }
  const { accountId, apiKey = '' } = unwrap(await core.services.accounts.open(operator, opening))
  await caughtUp(core)
  const browser = new BrowserClient(at.url)
  await browser.signIn(at, email)
  return { accountId: accountId as AccountId, client: new Client(at.url, apiKey), browser }
}

const ada = await openOwner('ada@example.com')

const pageOf = async (path: string, browser = ada.browser) => {
  const reply = await browser.get(path)
  return { ...reply, words: wordsOf(reply.text) }
}
const pageOfRun = (id: string, browser = ada.browser) => pageOf(`/console/runs/${id}`, browser)

/** The names and amounts of a receipt. */
const receiptOn = (html: string): [string, number][] =>
  [...html.matchAll(/<dt>([^<]*)<\/dt><dd>([^<]*)<\/dd><\/div>/g)].map(([, name = '', amount = '']) => [
    wordsOf(name).trim(),
    Number(amount.replace('−', '-').replaceAll(',', '').split(' ')[0]),
  ])

t.test('the page of a picture shows it, its price line by line, and what was chosen', async t => {
  const { body: run } = await ada.client.run({ ...picture, label: 'winter', metadata: { order: 17 } })
  const { status, words, text } = await pageOfRun(run.run_id)
  t.equal(status, 200)
  const [url = ''] = run.output?.urls ?? []
  t.match(text, `<img src="${url.slice(service.url.length)}" alt="a lighthouse at dusk"/>`)
  t.match(words, /Completed.*Open in playground.*Nano Banana 2.*Sandbox.*\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/)
  t.match(words, /Key website …[0-9a-f]{4} Label winter/)
  t.match(words, /What happened.*Accepted and debited.*Sandbox.*Image stored.*Settled \d/)
  t.match(text, /data-note="chosen for you"/)
  t.match(text, /data-note="default"/)
  t.match(text, `href="/console/playground?model=nano-banana-2&amp;from=${run.run_id}"`)
  const receipt = receiptOn(text)
  t.same(receipt.at(-1), ['Charged', run.credits_charged])
  t.same(receipt, [
    ['10 × 1 image', 10],
    ['Charged', 10],
  ])
  t.match(
    words,
    /Price list revision \d+ · event \d+ of your account · not sealed yet .*The next seal covers this event/,
  )
  t.match(words, `"credits_charged" : ${run.credits_charged}`, 'the run as the API answers it')
  t.match(words, /RunCompleted event \d+/)
  t.notMatch(text, /"cost"|ProviderCostRecorded/, 'what the provider charged is the operator’s')
})

t.test('a text shows its answer, and its receipt adds up to what was kept', async t => {
  const { body: run } = await ada.client.run({ model: 'gpt-6-1-terra', input: { prompt: 'Write of the sea.' } })
  const { text, words } = await pageOfRun(run.run_id)
  t.match(words, run.output?.text)
  const receipt = receiptOn(text)
  const amounts = new Map(receipt)
  const kept = run.credits_charged - (run.credits_released ?? 0)
  const near = (one: number | undefined, other: number) => Math.abs((one ?? Number.NaN) - other) < 1e-9
  t.ok(near(amounts.get('Charged'), kept))
  const entries = receipt.slice(
    0,
    receipt.findIndex(([name]) => name === 'Charged'),
  )
  t.match(entries, [[/^\d+ input tokens at [\d,.]+ credits a million$/], [/^\d+ output tokens/]])
  t.ok(
    near(
      entries.reduce((sum, [, amount]) => sum + amount, 0),
      kept,
    ),
    'the entries add up',
  )
  t.equal(amounts.get('Held while it ran'), run.credits_charged)
  t.match(words, /Returned the unused part \d/)
})

t.test('calls of tools, sounds and films show as what they are', async t => {
  const tool = { type: 'function', function: { name: 'read_tide', parameters: { type: 'object', properties: {} } } }
  const asked = { prompt: 'What is the tide?', tools: [tool], tool_choice: 'required' }
  const { body: called } = await ada.client.run({ model: 'claude-haiku-4-5', input: asked })
  t.match((await pageOfRun(called.run_id)).words, /Calls read_tide/)
  const { body: spoken } = await ada.client.run({ model: 'eleven-v3', input: { text: 'Good evening.' } })
  t.match((await pageOfRun(spoken.run_id)).text, /<audio src="\/cdn\/outputs\/[0-9a-f]{32}\.mp3" controls/)
  t.match((await pageOf('/console/runs')).text, /<audio src="\/cdn\/outputs\//)
})

t.test('a failed run says why and what came back', async t => {
  const { body: run } = await ada.client.run(sandbox({ outcome: 'content_rejected' }))
  const { words, text } = await pageOfRun(run.run_id)
  t.match(words, /Refused by the provider · 1 credit refunded The request asked the sandbox to fail/)
  t.match(words, /Failed and refunded/)
  t.same(receiptOn(text).slice(-3), [
    ['Base price 1', 1],
    ['Refunded', -1],
    ['Charged', 0],
  ])
  t.match((await pageOf('/console/runs')).words, /Refused by the provider 1 credit refunded hello Sandbox/)
})

t.test('the title is the beginning of the prompt, which the page shows as a whole', async t => {
  const long = 'a lighthouse at dusk, '.repeat(40).trim()
  const json = '{"subject":"a lighthouse","light":{"at":"dusk"}}'
  const pageFor = async (prompt: string) =>
    pageOfRun((await ada.client.run({ model: 'sandbox', input: { prompt } })).body.run_id)
  const page = await pageFor(long)
  t.match(page.words, 'Runs / a lighthouse at dusk, a lighthouse at dusk, a lighthouse at… ')
  t.match(page.words, `${long} Show all ${long.length} characters`)
  const pretty = JSON.stringify(JSON.parse(json), undefined, 2)
  t.match((await pageFor(json)).text.replaceAll('&quot;', '"'), `>${pretty}<`)
  const deep = `${'['.repeat(9)}${']'.repeat(9)}`
  for (const same of ['a lighthouse', '{"big":12345678901234567890}', '{"a":1,"a":2}', '[broken', deep])
    t.match((await pageFor(same)).text.replaceAll('&quot;', '"'), `dir="auto">${same}<`)
  t.notMatch((await pageFor('a lighthouse')).words, 'Show all')
})

t.test('the menu of labels offers those of the range', async t => {
  const { browser, client } = await openOwner('labels@example.com')
  for (const label of ['winter', '<b>spring</b>']) await client.run({ ...sandbox(), label })
  await client.run(sandbox())
  const { text, words } = await pageOf('/console/runs/labels?range=7d&view=list', browser)
  t.match(words, /^ *(winter *<b>spring<\/b>|<b>spring<\/b> *winter) *$/)
  t.match(text, 'href="/console/runs?range=7d&amp;view=list&amp;label=winter"')
  t.equal((await pageOf('/console/runs/labels?from=2020-01-01T00:00:00Z&to=2020-02-01T00:00:00Z', browser)).text, '')
  t.equal((await pageOf('/console/runs/labels')).words.includes('spring'), false, 'of its own account')
})

t.test('each attempt is a row with its provider, its times and its reason', async t => {
  const fal = await startFal(t)
  fal.fault = { status: 429, body: { detail: 'team-42 has too many requests' } }
  const data = (await samplePicture('png')).toString('base64')
  let answer: [status: number, body: unknown] = [200, generated([{ inlineData: { mimeType: 'image/png', data } }])]
  const google = await startGoogle(t, (_, response) => reply(response, ...answer))
  const vendors = {
    ...{ FAL_KEY, FAL_BASE_URL: fal.url, GOOGLE_API_KEY: googleKey, GOOGLE_BASE_URL: google.url },
  }
  const tried = await startService(t, { environment: { ...environment, ...vendors } })
  const { client, browser } = await openOwner('ida@example.com', 1000, tried)
  const taken = await pageOfRun((await client.run(picture)).body.run_id, browser)
  const span = String.raw`\d+(\.\d+)? m?s \d+(\.\d+)? m?s`
  const rows = [`fal 429 too many requests ${span}`, `Google ${span}`, `Image stored ${span}`, 'Settled \\d']
  t.match(taken.words, new RegExp(rows.join('.*')))
  t.match(taken.words, /Provider Google, after fal refused/)
  t.notMatch(taken.text, 'team-42')
  answer = [401, googleError(401, 'UNAUTHENTICATED', 'team-42 has no key')]
  const failed = await pageOfRun((await client.run(picture)).body.run_id, browser)
  t.match(failed.words, /Google not available .*Failed and refunded/)
  t.notMatch(failed.text, /team-42|\b401\b/, 'the trouble of the operator’s account')
})

t.test('an open run reads itself again, and can be cancelled', async t => {
  const { body: run } = await ada.client.run(sandbox({ delay_ms: 600_000 }), { Prefer: 'wait=0' })
  const path = `/console/runs/${run.run_id}`
  const page = await until('the run has started', async () => {
    const shown = await pageOf(path)
    return /In progress/.test(shown.words) && shown
  })
  t.match(page.text, `hx-get="${path}"`)
  t.match(page.words, /Sandbox is working.*Cancel run.*refunded in full if the run fails/)
  t.notMatch(page.words, /Open in playground/)
  const fragment = await ada.browser.get(path, { 'HX-Request': 'true' })
  t.match(fragment.text, /^<div id="run"/)
  t.match(
    await ada.browser.post(`${path}/cancel`, { form_token: 'guessed' }),
    { status: 403 },
    'not without the token of the form',
  )
  t.match(await ada.browser.post(`${path}/cancel`), { status: 303, location: path })
  const ended = await until('the run has ended', async () => {
    const shown = await pageOf(path)
    return /Cancelled · 1 credit refunded/.test(shown.words) && shown
  })
  t.notMatch(ended.text, 'hx-get="/console/runs')
  t.match(await ada.browser.post(`${path}/cancel`), { status: 409, text: /already/ })
})

t.test('the attempts of a webhook show, and it is sent again', async t => {
  const receiver = await startReceiver(t, status(410))
  const { body: run } = await ada.client.run({ ...picture, webhook_url: `${receiver.url}hook?a="><b>` })
  await untilRecorded(core.log, 2, ada.accountId, run.run_id as RunId)
  await caughtUp(core)
  const page = await pageOfRun(run.run_id)
  t.match(page.words, /Webhook 410/, 'in the waterfall')
  t.match(page.words, /Webhook Send again.*Abandoned.*410/)
  t.notMatch(page.text, '"><b>')
  receiver.answer = status(204)
  t.match(await ada.browser.post(`/console/runs/${run.run_id}/webhook`), { status: 303 })
  await until('it is delivered', async () => /Delivered/.test((await pageOfRun(run.run_id)).words))
})

t.test('a run of another account, or none, is not found', async t => {
  const { body: run } = await ada.client.run(picture)
  const stranger = await openOwner('stranger@example.com')
  for (const id of [run.run_id, 'run_00000000000000000000000000', '<b>'])
    for (const path of [`/console/runs/${id}`, `/console/runs/${id}/thumbnail`]) {
      const { status, text } = await stranger.browser.get(path)
      t.equal(status, 404, path)
      t.notMatch(text, 'lighthouse')
    }
  for (const action of ['cancel', 'webhook'])
    t.match(await stranger.browser.post(`/console/runs/${run.run_id}/${action}`), {
      status: 404,
    })
  t.match((await stranger.browser.get('/console/runs')).text, /Your first run starts here/)
  t.match(await new BrowserClient(service.url).get(`/console/runs/${run.run_id}/thumbnail`), { status: 303 })
})

t.test('a thumbnail is small, and its owner’s browser keeps it', async t => {
  const { body: run } = await ada.client.run(picture)
  const path = `/console/runs/${run.run_id}/thumbnail`
  const url = service.url.replace('//localhost', '//127.0.0.1') + path
  const cookie = [...ada.browser.cookies].map(each => each.join('=')).join('; ')
  const get = async () => {
    const answer = await fetch(url, { headers: { cookie } })
    return { answer, bytes: Buffer.from(await answer.arrayBuffer()) }
  }
  const all = await Promise.all([get(), get(), get()])
  const kept = await readdir(join(core.config.dataDir, 'objects', 'thumbnails'))
  t.equal(kept.length, 1, 'one for three who ask at a time')
  const again = await get()
  for (const { answer, bytes } of [...all, again]) {
    t.equal(answer.headers.get('Content-Type'), 'image/webp')
    t.equal(answer.headers.get('Cache-Control'), 'private, max-age=31536000, immutable')
    t.equal(bytes.toString('latin1', 8, 12), 'WEBP')
    t.ok(bytes.equals(again.bytes))
  }
  t.ok(again.bytes.length < 40_000, `${again.bytes.length} bytes`)
  const { body: text } = await ada.client.run(sandbox())
  t.equal((await ada.browser.get(`/console/runs/${text.run_id}/thumbnail`)).status, 404)
})

t.test('filters select, and the totals are those of the filter', async t => {
  const grace = await openOwner('grace@example.com')
  const ids: string[] = []
  for (const request of [
    { ...picture, label: 'a & b' },
    picture,
    sandbox({ outcome: 'provider_error' }),
    sandbox({ prompt: 'second' }),
  ])
    ids.push((await grace.client.run(request)).body.run_id)
  const list = async (query: string) => {
    const { text, words } = await pageOf(`/console/runs?${query}`, grace.browser)
    const found = [...text.matchAll(/href="\/console\/runs\/(run_\w+)" data-item/g)].map(([, id]) => id)
    const totals = /Runs over time|(\d+ runs?(?: · \d+ failed and refunded)? · [\d.]+ credits)/.exec(words)?.[1]
    return { found, totals, text, words }
  }
  t.match(await list(''), { found: ids.toReversed(), totals: '4 runs · 1 failed and refunded · 21 credits' })
  t.match(await list('view=list'), { found: ids.toReversed(), totals: '4 runs · 1 failed and refunded · 21 credits' })
  t.match(await list('status=failed'), { found: [ids[2]], totals: '1 run · 1 failed and refunded · 0 credits' })
  t.match(await list('model=nano-banana-2'), { found: [ids[1], ids[0]], totals: '2 runs · 20 credits' })
  t.match(await list('label=a+%26+b'), { found: [ids[0]], totals: '1 run · 10 credits' })
  t.match(await list('label=a+%26+b&status=failed'), { found: [], words: /No run matches.*Clear the filters/ })
  t.match(await list('range=7d'), { found: ids.toReversed(), totals: '4 runs · 1 failed and refunded · 21 credits' })
  t.match(await list('range=1y&model=sandbox'), { totals: '2 runs · 1 failed and refunded · 1 credits' })
  const { text } = await list('')
  const [bar = ''] =
    /from=[^"]*&amp;to=[^"]*(?=" tabindex="-1"[^>]*class="shown"[^>]*><title>[^<]*4 runs)/.exec(text) ?? []
  t.match(bar, /^from=/, 'a click on a bar narrows the list')
  t.match(await list(bar.replaceAll('&amp;', '&')), { totals: '4 runs · 1 failed and refunded · 21 credits' })
  t.match(await list('from=2020-01-01&to=2020-02-01'), { found: [], words: /0 runs/ })
  t.match(
    await list('range=<b>&status=x&from=never&view=<i>'),
    { found: ids.toReversed() },
    'nonsense counts as absent',
  )
  // Hundreds of links would repeat it.
  const long = await list(`label=${'x'.repeat(8000)}`)
  t.ok(long.text.length < 100_000, `the page has ${long.text.length} characters`)
  t.same(long.found, ids.toReversed())

  const { found: keyed } = await list(`key=${(await grace.client.send<{ id: string }>('/v1/key')).body.id}`)
  t.same(keyed, ids.toReversed())
  t.match(await list('key=key_00000000000000000000000000'), { found: [] })
})

t.test('further pages come as fragments', async t => {
  const busy = await openOwner('busy@example.com')
  await Promise.all(Array.from({ length: 30 }, () => busy.client.run(sandbox())))
  const { text } = await pageOf('/console/runs', busy.browser)
  const found = new Set([...text.matchAll(/href="\/console\/runs\/(run_\w+)" data-item/g)].map(([, id]) => id))
  t.equal(found.size, 24)
  const [, more = ''] = /id="more".*hx-get="([^"]+)"/.exec(text) ?? []
  const next = await busy.browser.get(more.replaceAll('&amp;', '&'), { 'HX-Request': 'true' })
  t.match(next.text, /^<li class="tile/)
  t.notMatch(next.text, 'Load more')
  for (const [, id] of next.text.matchAll(/href="\/console\/runs\/(run_\w+)" data-item/g)) found.add(id)
  t.equal(found.size, 30)
  t.match((await pageOf('/console/runs', busy.browser)).words, /30 runs/)
})
