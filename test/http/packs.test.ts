import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import OpenAI from 'openai'
import t, { type Test } from 'tap'
import type { PackList } from '../../schemas/api/packs.ts'
import type { PriceList } from '../../schemas/packs.ts'
import { call, connect, refusal } from '../mcp/support.ts'
import { picture } from '../support/client.ts'
import { openAiClient } from '../support/openai-client.ts'
import { priceList } from '../support/pack-samples.ts'
import { recorded } from '../support/recorded.ts'
import { instantProvider, openAccount, startService } from '../support/service.ts'
import { STRIPE_KEY, WEBHOOK_SECRET } from '../support/stripe/stub.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const PUBLIC_URL = 'https://tollgate.example.com'
const STRIPE = { STRIPE_SECRET_KEY: STRIPE_KEY, STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET }

/** A service at a public address with a price list in its configuration. */
const start = async (t: Test, { list = priceList, sells = true }: { list?: PriceList; sells?: boolean } = {}) => {
  const PACKS = join(await temporaryFolder(t), 'packs.json')
  await writeFile(PACKS, JSON.stringify(list))
  const service = await startService(t, {
    providers: { sandbox: instantProvider },
    environment: { PUBLIC_URL, PACKS, ...(sells && STRIPE) },
  })
  return { ...service, url: `http://127.0.0.1:${service.port}` }
}

const service = await start(t)
const dear = { ...picture, input: { ...picture.input, num_images: 4 } }

/** The offers for 10 missing credits. */
const offers = [
  {
    ...{ object: 'offer', pack: 'starter', name: 'Starter', credits: 1000, bonus_credits: 0 },
    ...{ amount: '12.50', currency: 'EUR', valid_days: null },
    buy_url: `${PUBLIC_URL}/console/credits?pack=starter`,
  },
  {
    ...{ object: 'offer', pack: 'studio', name: 'Studio', credits: 10_000, bonus_credits: 500 },
    ...{ amount: '119.00', currency: 'EUR', valid_days: 365 },
    buy_url: `${PUBLIC_URL}/console/credits?pack=studio`,
  },
]

t.test('GET /v1/packs returns the price list, also for a key that only reads', async t => {
  const [customer, reader, manager] = await Promise.all([
    openAccount(service),
    openAccount(service, { scope: 'read' }),
    openAccount(service, { scope: 'keys' }),
  ])
  const { status, body } = await reader.send<PackList>('/v1/packs')
  t.equal(status, 200)
  recorded(t, 'packList', body)
  t.same((await customer.send('/v1/packs')).body, body)
  t.equal((await manager.send('/v1/packs')).status, 403)
})

t.test('without a price list, nothing is for sale', async t => {
  const empty = await startService(t, { environment: { HOST: '0.0.0.0', ...STRIPE } })
  const customer = await openAccount({ ...empty, url: `http://127.0.0.1:${empty.port}` }, { credits: 1 })
  t.same((await customer.send('/v1/packs')).body, { object: 'list', data: [], custom_amount: null })
  const { body } = await customer.run(picture)
  t.equal(body.error.code, 'insufficient_credits')
  t.notOk('offers' in body.error)
  t.match(body.error.message, /ask the operator of the service for credits/)
})

t.test('insufficient_credits offers what to buy, at the address of the service', async t => {
  const customer = await openAccount(service, { credits: 30 })
  const { status, body } = await customer.run(dear, { Host: 'evil.example' })
  t.equal(status, 402)
  t.match(body.error, { code: 'insufficient_credits', required_credits: 40, credits_balance: 30 })
  t.same((body.error as { offers?: object }).offers, offers)
  t.match(
    body.error.message,
    /or buy 1000 credits for 12\.50 EUR at https:\/\/tollgate\.example\.com\/console\/credits\?pack=starter\.$/,
  )
})

t.test('agents get the same offers', async t => {
  const customer = await openAccount(service, { credits: 30 })
  for (const revision of ['2025-11-25', '2026-07-28'] as const) {
    const agent = await connect(t, customer, revision)
    t.match(await refusal(agent, 'run_model', dear), { code: 'insufficient_credits', offers })
    t.match((await call<{ credits: number }>(agent, 'quote_run', dear)).body, { credits: 40 })
  }
})

t.test('OpenAI’s client gets the same offers in an error of its own', async t => {
  const poor = await openAccount(service, { credits: 0.001 })
  const { client } = openAiClient(poor, { maxRetries: 0 })
  const messages = [{ role: 'user' as const, content: 'hello' }]
  const requests = [
    () => client.chat.completions.create({ model: 'gpt-6-1-terra', messages }),
    () => client.chat.completions.create({ model: 'gpt-6-1-terra', messages, stream: true }),
    () => client.responses.create({ model: 'gpt-6-1-terra', input: 'hello' }),
    () => client.images.generate({ model: 'nano-banana-2', prompt: 'a lake' }),
    () => client.audio.speech.create({ model: 'eleven-v3', input: 'hello', voice: 'Aria' }),
  ]
  for (const send of requests) {
    const error = await Promise.resolve(send()).catch(error => error)
    t.ok(error instanceof OpenAI.APIError)
    t.match(error, { status: 402, type: 'insufficient_quota', code: 'insufficient_credits', error: { offers } })
  }
})

t.test('no other refusal has offers, and none has them while nobody can pay', async t => {
  const customer = await openAccount(service)
  t.notOk('offers' in (await customer.run({ ...picture, model: 'nope' })).body.error)
  const silent = await start(t, { sells: false })
  const poor = await openAccount(silent, { credits: 30 })
  const { body } = await poor.run(dear)
  t.equal(body.error.code, 'insufficient_credits')
  t.notOk('offers' in body.error)
  t.same((await poor.send<PackList>('/v1/packs')).body, { object: 'list', data: [], custom_amount: null })
})

t.test('a custom amount is offered where no pack is enough', async t => {
  const { customAmount } = priceList
  const free = await start(t, { list: { packs: [], ...(customAmount && { customAmount }) } })
  const poor = await openAccount(free, { credits: 30 })
  t.match((await poor.run(dear)).body.error, {
    offers: [{ pack: null, name: '100 credits', credits: 100, buy_url: `${PUBLIC_URL}/console/credits?credits=100` }],
  })
})
