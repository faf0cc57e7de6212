import t from 'tap'
import type { Family } from '../../schemas/catalog.ts'
import { applyMarkUp } from '../../src/boot/apply-mark-up.ts'
import { ConfigError } from '../../src/boot/config.ts'
import { readConfig } from '../../src/boot/read-config.ts'
import { bindingsOf, shipped } from '../../src/catalog/shipped.ts'
import { priceOf } from '../../src/domain/catalog/pricing.ts'
import { listPrice, quantitiesOf } from '../../src/domain/routing/list-price.ts'
import { upstreamParameters } from '../../src/domain/routing/upstream-parameters.ts'
import { samplesOf } from '../catalog/inputs.ts'
import { collect } from '../support/collect.ts'
import { startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const at = (variables: Record<string, string>) => applyMarkUp(readConfig(variables))

const baseOf = (families: Family[], id: string) =>
  families.find(family => family.id === id)?.endpoints[0]?.pricing.baseMicros

t.test('without a factor, the shipped prices hold', async t => {
  t.equal(at({}), shipped)
  t.equal(at({ FAL_KEY: 'a:b', USD_PER_CREDIT: '0.02' }), shipped)
})

t.test('prices follow from list prices, by family too, and a credit may have another price', async t => {
  // fal charges 11.2 US cents for a second without sound, and the price rule multiplies by 1.5 with sound.
  t.equal(baseOf(at({ MARK_UP: '1.5' }), 'kling-3-pro'), 16_800_000)
  t.equal(baseOf(at({ MARK_UP: '1.5,kling-3-pro=2' }), 'kling-3-pro'), 22_400_000)
  t.equal(baseOf(at({ MARK_UP: 'kling-3-pro=0.5' }), 'kling-3-pro'), 5_600_000)
  t.equal(baseOf(at({ MARK_UP: '1', USD_PER_CREDIT: '0.02' }), 'kling-3-pro'), 5_600_000)
  t.equal(baseOf(at({ MARK_UP: '1' }), 'eleven-v3'), 10_000_000, 'the longest text counts')
  const only = at({ MARK_UP: 'kling-3-pro=2' })
  t.equal(
    only.find(({ id }) => id === 'veo-3-1'),
    shipped.find(({ id }) => id === 'veo-3-1'),
  )
})

t.test('with a factor, no run sells for less than that on the list price of whichever provider', async t => {
  let compared = 0
  for (const { endpoints } of at({ MARK_UP: '1.7' }))
    for (const endpoint of endpoints)
      for (const { price, ...binding } of bindingsOf(endpoint.id))
        for (const input of price && !['nano-banana-2-t2i', 'nano-banana-2-i2i'].includes(endpoint.id)
          ? samplesOf(endpoint)
          : []) {
          if (!price || 'unmet' in upstreamParameters(binding, input)) continue
          const cost = listPrice(price, quantitiesOf(input, Number(input['num_images'] ?? 1)), input)
          if (cost === undefined) continue
          compared += 1
          const { totalMicros } = priceOf(endpoint.pricing, input, 10_000)
          t.ok(totalMicros * 0.01 >= cost * 1.7 - 1, `${endpoint.id} ${JSON.stringify(input)}`)
        }
  t.ok(compared > 500)
})

t.test('a factor on a text model is one on the list price of each token', async t => {
  const ratesAt = (environment: Record<string, string>) =>
    at(environment).find(({ id }) => id === 'gpt-6-1-terra')?.endpoints[0]?.pricing.tokens
  const credits = 1_000_000
  const doubled = { input: 250 * credits, cached_input: 10 * credits, output: 1000 * credits, thinking: 1000 * credits }
  t.same(ratesAt({ MARK_UP: '2' }), doubled, 'with the price of input that is written into the cache')
  t.same(ratesAt({ MARK_UP: '1', USD_PER_CREDIT: '0.005' }), doubled)
})

t.test('only providers that have a key count', async t => {
  // Replicate has a list price of FLUX.2 [flex], and fal has none.
  t.equal(baseOf(at({ MARK_UP: '2', REPLICATE_API_TOKEN: 'r8_x' }), 'flux-2-flex'), 12_000_000)
  t.equal(baseOf(at({ MARK_UP: '2', FAL_KEY: 'a:b' }), 'flux-2-flex'), 6_000_000)
})

t.test('the prices of the specification are fixed, and a factor that cannot apply is refused', async t => {
  t.same(baseOf(at({ MARK_UP: '9' }), 'nano-banana-2'), 10_000_000)
  for (const [value, told] of [
    ['nano-banana-2=2', /nano-banana-2, whose price is fixed/],
    ['nope=2', /nope, which is not a family/],
    ['gpt-image-2-6=2', /list prices depend on more than the request/],
    ['0', /MARK_UP/],
    ['0.00', /MARK_UP/],
    ['1,5', /MARK_UP/],
    ['kling-3-pro', /MARK_UP/],
    ['1.2,0.5', /MARK_UP/],
  ] as const)
    t.throws(() => at({ MARK_UP: value }), { name: ConfigError.name, message: told }, value)
})

t.test('a changed factor revises the catalog with events, and its absence restores the shipped prices', async t => {
  const folder = await temporaryFolder(t)
  const start = async (environment: Record<string, string>) => {
    const service = await startService(t, { folder, environment })
    const restored = await service.core.services.catalog.publish({ kind: 'operator', name: 'Ada' })
    t.same(restored, { value: [] }, 'the command that restores the shipped catalog knows the factor')
    const events = await collect(service.core.log.readStream('catalog', 0))
    const { families } = await service.core.publishedCatalog.state()
    await service.stop()
    return {
      revised: events.filter(({ type }) => type === 'FamilyRevised').length,
      base: baseOf([...families.values()], 'kling-3-pro'),
    }
  }
  t.same(await start({}), { revised: 0, base: 11_200_000 })
  t.same(await start({ MARK_UP: 'kling-3-pro=2' }), { revised: 1, base: 22_400_000 })
  t.same(await start({ MARK_UP: 'kling-3-pro=2' }), { revised: 1, base: 22_400_000 })
  t.same(await start({}), { revised: 2, base: 11_200_000 })
})
