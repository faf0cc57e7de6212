import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Family, ParametersSchema, PriceRule } from '../../schemas/catalog.ts'
import { CATALOG_STREAM } from '../../schemas/events.ts'
import { shipped } from '../../src/catalog/shipped.ts'
import { toMicros } from '../../src/domain/money.ts'
import type { Job, Provider } from '../../src/ports/provider.ts'
import { endpoint, family, parameters, priceRule } from '../support/catalog-samples.ts'
import type { Client } from '../support/client.ts'
import { collect } from '../support/collect.ts'
import { operatorOf } from '../support/operator.ts'
import { instantProvider, openAccount, type Service, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

/** A service, its command line, and a function that writes catalog files. */
const start = async (t: Test, provider: Provider = instantProvider) => {
  const folder = await temporaryFolder(t)
  const files = await temporaryFolder(t)
  const startAgain = () => startService(t, { folder, providers: { sandbox: provider } })
  const write = async (content: unknown) => {
    const path = join(files, `${crypto.randomUUID()}.json`)
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
    return path
  }
  return { service: await startAgain(), startAgain, operator: operatorOf(folder), write }
}

const catalogEvents = ({ core }: Service) => collect(core.log.readStream(CATALOG_STREAM, 0))

/** Waits until the service has noticed the appends of another process. */
const untilNoticed = async ({ core }: Service) => {
  await core.progress.passed(await core.log.head(), 10_000)
  // The service may use a catalog that is a tenth of a second old.
  await delay(150)
}

const run = (customer: Client, model: string, input = {}) =>
  customer.run({ model, input: { prompt: 'hello', ...input } }, { Prefer: 'wait=1' })

const shippedFamily = (id: string): Family => {
  const found = shipped.find(one => one.id === id)
  if (!found) throw new Error(`${id} is not shipped`)
  return structuredClone(found)
}

/** A shipped family with a price of five credits. */
const repriced = (id = 'gpt-6-1-terra'): Family => {
  const changed = shippedFamily(id)
  for (const one of changed.endpoints) one.pricing = priceRule({ baseMicros: toMicros(5) })
  return changed
}

t.test('the first start publishes the shipped families, the second nothing', async t => {
  const { service, startAgain } = await start(t)
  const published = await catalogEvents(service)
  t.same(
    published.map(event => event.type),
    shipped.map(() => 'FamilyPublished'),
  )
  await service.stop()
  t.same(await catalogEvents(await startAgain()), published)
})

t.test('catalog diff and publish: a file changes its families until they are released', async t => {
  const { service, startAgain, operator, write } = await start(t)
  const customer = await openAccount(service)
  const before = await catalogEvents(service)
  const price = (await run(customer, 'gpt-6-1-terra')).body.credits_charged
  const changed = repriced()
  const file = await write([changed, family('lumen')])

  const [same, diff, shown] = await Promise.all([
    operator.text(t, 'catalog', 'diff'),
    operator.json<object[]>(t, 'catalog', 'diff', file),
    operator.text(t, 'catalog', 'diff', file),
  ])
  t.equal(same, 'No differences.\n')
  t.match(shown, /gpt-6-1-terra +revise +endpoints\.0\.pricing\.baseMicros +\d+ +5000000/)
  const [first] = shippedFamily('gpt-6-1-terra').endpoints
  t.same(diff[0], {
    family: 'gpt-6-1-terra',
    change: 'revise',
    place: 'endpoints.0.pricing.baseMicros',
    from: String(first?.pricing.baseMicros),
    to: '5000000',
  })
  t.same(diff.at(-1), { family: 'lumen', change: 'publish', place: null, from: null, to: null })
  t.same(await catalogEvents(service), before)

  const publish = (...files: string[]) => operator.json(t, 'catalog', 'publish', ...files)
  const summary = [
    { family: 'gpt-6-1-terra', change: 'revise' },
    { family: 'lumen', change: 'publish' },
  ]
  t.same(await publish(file), summary)
  await untilNoticed(service)
  t.equal((await run(customer, 'gpt-6-1-terra')).body.credits_charged, 5)
  t.equal((await run(customer, 'lumen')).body.credits_charged, 10)
  const byHand = await catalogEvents(service)
  t.match(byHand.slice(before.length), [
    { type: 'FamilyRevised', data: { byHand: true }, metadata: { actor: { kind: 'operator' } } },
    { type: 'FamilyPublished', data: { byHand: true } },
  ])
  t.equal(byHand.length, before.length + 2)
  t.same(await publish(file), [])

  await service.stop()
  const again = await startAgain()
  t.same(await catalogEvents(again), byHand)
  const later = customer.at(again.url)
  t.equal((await run(later, 'gpt-6-1-terra')).body.credits_charged, 5)

  const back = [
    { family: 'lumen', change: 'withdraw' },
    { family: 'gpt-6-1-terra', change: 'revise' },
  ]
  t.same(await publish(), back)
  await untilNoticed(again)
  t.equal((await run(later, 'gpt-6-1-terra')).body.credits_charged, price)
  t.equal((await run(later, 'lumen')).status, 404)
  t.equal(await operator.text(t, 'catalog', 'diff'), 'No differences.\n')
})

t.test('what export prints can be published: it is then held by hand, and nothing else about it changes', async t => {
  const { operator, write } = await start(t)
  const exported = await operator.text(t, 'catalog', 'export', 'gpt-6-1-terra')
  t.same(JSON.parse(exported), [shippedFamily('gpt-6-1-terra')])
  const file = await write(JSON.parse(exported))
  t.same(await operator.json(t, 'catalog', 'diff', file), [
    { family: 'gpt-6-1-terra', change: 'revise', place: 'by hand', from: 'false', to: 'true' },
  ])
  t.same(await operator.json(t, 'catalog', 'publish', file), [{ family: 'gpt-6-1-terra', change: 'revise' }])
  t.equal(await operator.text(t, 'catalog', 'diff', file), 'No differences.\n')
  t.match(await operator.refused(t, 'catalog', 'export', 'gpt-6'), /no such family/)
})

t.test('accepted runs keep their price and endpoint', async t => {
  const jobs: Job[] = []
  let open = () => {}
  const gate = new Promise<void>(resolve => {
    open = resolve
  })
  const { service, operator, write } = await start(t, {
    ...instantProvider,
    submit: async (job, signal) => {
      jobs.push(job)
      await gate
      return instantProvider.submit(job, signal)
    },
  })
  const customer = await openAccount(service, { credits: 10_000, tester: true })
  // These fill the slots of the provider, so the next runs wait.
  await Promise.all(Array.from({ length: 64 }, () => run(customer, 'sandbox')))
  const price = (await run(customer, 'gpt-6-1-terra', { prompt: 'its family is revised' })).body
  const gone = (await run(customer, 'gemini-3-flash', { prompt: 'its family is withdrawn' })).body
  t.same([price.status, gone.status], ['queued', 'queued'])

  await operator.json(t, 'catalog', 'publish', await write(repriced()))
  await operator.json(t, 'catalog', 'withdraw', 'gemini-3-flash')
  await untilNoticed(service)
  t.equal((await run(customer, 'gemini-3-flash')).status, 404)
  open()
  for (const { run_id, endpoint, credits_charged } of [price, gone]) {
    const found = await until('the run has ended', async () => {
      const reply = await customer.send(`/v1/runs/${run_id}`)
      return reply.body.completed_at && reply
    })
    t.match(found.body, { status: 'completed', endpoint, credits_charged })
    t.equal(jobs.find(job => job.runId === run_id)?.endpoint, endpoint)
  }
  t.equal((await run(customer, 'gpt-6-1-terra')).body.credits_charged, 5)
})

t.test('catalog withdraw: the family stays withdrawn until it is released', async t => {
  const { service, startAgain, operator } = await start(t)
  const customer = await openAccount(service)
  t.same(await operator.json(t, 'catalog', 'withdraw', 'gpt-6-1-terra'), [
    { family: 'gpt-6-1-terra', change: 'withdraw' },
  ])
  await untilNoticed(service)
  t.match((await run(customer, 'gpt-6-1-terra')).body.error, { code: 'model_not_found' })
  const withdrawn = await catalogEvents(service)
  t.match(await operator.refused(t, 'catalog', 'withdraw', 'gpt-6-1-terra'), /no such family/)

  await service.stop()
  const again = await startAgain()
  t.same(await catalogEvents(again), withdrawn)
  t.equal((await run(customer.at(again.url), 'gpt-6-1-terra')).status, 404)
  t.match(await operator.text(t, 'catalog', 'publish'), /gpt-6-1-terra +publish/)
  await untilNoticed(again)
  t.equal((await run(customer.at(again.url), 'gpt-6-1-terra')).status, 200)
})

t.test('an invalid file is refused with its fault and changes nothing', async t => {
  const { service, operator, write } = await start(t)
  const before = await catalogEvents(service)
  const unpriced = family('lumen', {}, [endpoint('t2i', { pricing: priceRule({ quantities: ['num_images'] }) })])
  const undescribed = parameters({ size: { type: 'string', enum: ['S', 'L'] } })
  const multipliers = { size: { S: 1_000_000 } }
  const incomplete = family('lumen', {}, [
    endpoint('t2i', { parametersSchema: undescribed, pricing: priceRule({ multipliers }) }),
  ])
  const when = { parameter: 'prompt', equals: 'x' }
  const priced = (rule: Partial<PriceRule>) => family('lumen', {}, [endpoint('t2i', { pricing: priceRule(rule) })])
  const shaped = (properties: ParametersSchema['properties']) =>
    family('lumen', {}, [endpoint('t2i', { parametersSchema: parameters(properties) })])
  const { name: _, ...nameless } = family()
  const wrong: [content: unknown, message: RegExp][] = [
    ['{ "id": ', /is not JSON: /],
    ['[7]', /is not a family or a list of families: \/0 /],
    [nameless, /is not a family or a list of families: \/0\/name is required/],
    [unpriced, /the price depends on num_images, which is not a parameter/],
    [incomplete, /size L has no multiplier/],
    [priced({ surcharges: [{ when, usdMicros: 1 }] }), /prompt affects the price/],
    [shaped({ size: { type: 'strin' } }), /lumen-t2i: the schema of size is not valid/],
    [shaped({ size: { $ref: 'https://example.com' } }), /lumen-t2i: the schema of size may not use \$ref/],
    [[family('lumen'), family('umbra', { name: '\ud800' })], /umbra: the text at \/name is not well-formed/],
    // The first family is valid but must not be published without the second.
    [[family('lumen'), family('nano')], /the name nano belongs to another family/],
    [[family('lumen'), family('umbra', { aliases: ['lumen'] })], /the name lumen belongs to another family/],
  ]
  const refused = async (content: unknown, message: RegExp) =>
    t.match(await operator.refused(t, 'catalog', 'publish', await write(content)), message)
  await Promise.all(wrong.map(([content, message]) => refused(content, message)))
  t.match(
    await operator.refused(t, 'catalog', 'diff', '/nowhere/families.json'),
    /There is no file \/nowhere\/families.json/,
  )
  t.same(await catalogEvents(service), before)
})
