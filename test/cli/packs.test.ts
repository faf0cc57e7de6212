import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { CATALOG_STREAM } from '../../schemas/events.ts'
import { collect } from '../support/collect.ts'
import { operatorOf } from '../support/operator.ts'
import { freeAmount, pack, priceList, studio } from '../support/pack-samples.ts'
import { startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A service that sells a pack by its configuration, its command line, and a function that writes price lists. */
const start = async (t: Test) => {
  const [folder, files] = [await temporaryFolder(t), await temporaryFolder(t)]
  const write = async (content: unknown) => {
    const path = join(files, `${crypto.randomUUID()}.json`)
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
    return path
  }
  const environment = { PACKS: await write({ packs: [pack()] }) }
  const service = await startService(t, { folder, environment })
  const events = async () =>
    (await collect(service.core.log.readStream(CATALOG_STREAM, 0))).filter(({ type }) => type === 'PacksPublished')
  return { operator: operatorOf(folder, environment), write, events }
}

t.test('packs list and export show the price list', async t => {
  const { operator, write } = await start(t)
  t.match(await operator.text(t, 'packs', 'list'), /^pack +name +credits +bonus +price +valid days\nstarter +Starter /)
  await operator.text(t, 'packs', 'publish', await write(priceList))
  const text = await operator.text(t, 'packs', 'list')
  t.match(text, /\nstudio +Studio +10000 +500 +119\.00 EUR +365\n/)
  t.match(text, /\n– +– +100 – 50000 +– +0\.0125 EUR each +–\n/)
  t.match(await operator.json(t, 'packs', 'list'), [
    { object: 'pack', id: 'starter', credits: 1000, amount: '12.50' },
    { object: 'pack', id: 'studio', bonus_credits: 500 },
    { object: 'free_amount', min_credits: 100 },
  ])
  t.same(JSON.parse(await operator.text(t, 'packs', 'export')), priceList)
})

t.test('packs diff shows what packs publish changes, once, until the list is released', async t => {
  const { operator, write, events } = await start(t)
  const dearer = { packs: [studio, pack('starter', { amount: '13.00' })], freeAmount: freeAmount() }
  const file = await write(dearer)
  const changes = [
    { place: 'order', from: '"starter"', to: '"studio, starter"' },
    { place: 'packs.starter.amount', from: '"12.50"', to: '"13.00"' },
    { place: 'packs.studio', from: null, to: JSON.stringify(studio) },
    { place: 'freeAmount', from: null, to: JSON.stringify(freeAmount()) },
    { place: 'by hand', from: 'false', to: 'true' },
  ]
  const sorted = (some: { place: string }[]) => some.toSorted((one, other) => (one.place < other.place ? -1 : 1))
  t.equal(await operator.text(t, 'packs', 'diff'), 'No differences.\n')
  t.same(sorted(await operator.json(t, 'packs', 'diff', file)), sorted(changes))
  t.equal((await events()).length, 1)
  t.same(sorted(await operator.json(t, 'packs', 'publish', file)), sorted(changes))
  t.equal(await operator.text(t, 'packs', 'publish', file), 'No differences.\n')
  t.match(await events(), [
    { data: { packs: [pack()] }, metadata: { actor: { kind: 'service' } } },
    { data: { ...dearer, byHand: true }, metadata: { actor: { kind: 'operator' } } },
  ])
  await operator.text(t, 'packs', 'publish')
  t.same((await events()).at(-1)?.data, { packs: [pack()] }, 'without a file, PACKS is published')
})

t.test('a file with a fault changes nothing', async t => {
  const { operator, write, events } = await start(t)
  const faults: [unknown, RegExp][] = [
    ['{', /is not JSON/],
    [{ packs: [{ ...pack(), price: 5 }] }, /is not a price list: \/packs\/0\b/],
    [{ packs: [pack(), pack()] }, /\/packs\/1\/id is the id of another pack too\.\n$/],
  ]
  for (const [content, message] of faults)
    t.match(await operator.refused(t, 'packs', 'publish', await write(content)), message)
  t.match(
    await operator.refused(t, 'packs', 'publish', '/nowhere/packs.json'),
    /^\/nowhere\/packs\.json cannot be read/,
  )
  t.equal((await events()).length, 1)
})
