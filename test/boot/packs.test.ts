import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { CATALOG_STREAM } from '../../schemas/events.ts'
import type { PriceList } from '../../schemas/packs.ts'
import { readConfig } from '../../src/boot/read-config.ts'
import { collect } from '../support/collect.ts'
import { customAmount, pack, priceList } from '../support/pack-samples.ts'
import { type Service, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const write = async (t: Test, content: unknown) => {
  const path = join(await temporaryFolder(t), 'packs.json')
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

t.test('PACKS names a file with the price list', async t => {
  t.same(readConfig({}).packs, { packs: [] })
  t.same(readConfig({ PACKS: await write(t, priceList) }).packs, priceList)
})

t.test('managed payments need a tax code for all that is sold', async t => {
  const taxCode = 'txcd_10103001'
  const [taxed, untaxed] = [pack('taxed', { taxCode }), pack('untaxed')]
  const read = async (list: PriceList) => {
    const PACKS = await write(t, list)
    return { PACKS, config: () => readConfig({ PACKS, MANAGED_PAYMENTS: 'true' }) }
  }
  const faults: [PriceList, string][] = [
    [{ packs: [taxed, untaxed] }, '/packs/1'],
    [{ packs: [taxed], customAmount: customAmount() }, '/customAmount'],
  ]
  for (const [list, place] of faults) {
    const { PACKS, config } = await read(list)
    t.throws(config, { message: `PACKS: ${PACKS}: ${place} needs a taxCode, because MANAGED_PAYMENTS is on.` })
  }
  const list = { packs: [taxed], customAmount: customAmount({ taxCode }) }
  t.same((await read(list)).config().packs, list)
})

t.test('a file that is no valid price list is refused with the place of the fault', async t => {
  const faults: [unknown, RegExp][] = [
    ['{"packs": [', /packs\.json is not JSON: /],
    [[], /packs\.json is not a price list: \/ must be an? object/],
    [{ packs: [{ ...pack(), creditMicros: 5 }] }, /is not a price list: \/packs\/0\/creditMicros is unknown/],
    [{ packs: [pack('a', { amount: '12' })] }, /is not a valid price list: \/packs\/0\/amount must have 2 decimals\. /],
    [
      { packs: [pack('a', { amount: '3.505', currency: 'KWD' })] },
      /\/packs\/0\/amount must end in 0 \(in MGA, in 00\), because payment services charge this currency in larger units\. /,
    ],
  ]
  for (const [content, message] of faults) {
    const PACKS = await write(t, content)
    t.throws(() => readConfig({ PACKS }), { name: 'ConfigError', message }, String(message))
    t.throws(() => readConfig({ PACKS }), { message: /^PACKS: .* Set it to the file with the price list/ })
  }
  t.throws(() => readConfig({ PACKS: '/nowhere/packs.json' }), {
    name: 'ConfigError',
    message: /^PACKS: \/nowhere\/packs\.json cannot be read: ENOENT/,
  })
})

t.test('a start publishes the price list if it differs', async t => {
  const folder = await temporaryFolder(t)
  const published = async ({ core }: Service) =>
    (await collect(core.log.readStream(CATALOG_STREAM, 0))).filter(({ type }) => type === 'PacksPublished')
  const startWith = async (environment: Record<string, string>) => {
    const service = await startService(t, { folder, environment })
    const events = await published(service)
    await service.stop()
    return events.map(({ data, metadata }) => ({ data, actor: (metadata as { actor: object }).actor }))
  }
  const service = { kind: 'service' }
  const first = { data: priceList, actor: service }
  const PACKS = await write(t, priceList)
  t.same(await startWith({}), [])
  t.same(await startWith({ PACKS }), [first])
  t.same(await startWith({ PACKS }), [first])
  const second = { data: { packs: [pack()] }, actor: service }
  t.same(await startWith({ PACKS: await write(t, { packs: [pack()] }) }), [first, second])
  t.same(await startWith({}), [first, second, { data: { packs: [] }, actor: service }])
})
