import type { Endpoint, Family } from '../../schemas/catalog.ts'
import type { Core } from '../../src/boot/core.ts'
import { putByHand } from '../../src/domain/catalog/catalog.ts'
import { CatalogEditor } from '../../src/services/catalog/catalog-editor.ts'
import { endpoint, family, parameters, priceRule } from './catalog-samples.ts'
import type { Order } from './vendor.ts'

/** A family for 1 credit whose jobs a vendor does: async from a text, sync from an image. */
export const vendorFamily = (id = 'vendor', differences: Partial<Endpoint> = {}): Family => {
  const common = {
    provider: 'vendor',
    timeoutMs: 60_000,
    parametersSchema: parameters({
      image_url: { type: 'string' },
      workMs: { type: 'integer', default: 0 },
      result: { type: 'string', default: 'text' },
      faults: { type: 'array', default: [] },
    }),
    pricing: priceRule({ baseMicros: 1_000_000 }),
    ...differences,
  }
  const endpoints = [endpoint('t2v', { ...common, mode: 'async' }), endpoint('i2v', { ...common, mode: 'sync' })]
  return family(id, { outputType: 'video' }, endpoints)
}

/** Puts families on offer, and resolves when clients can see them. */
export const offer = async ({ log, clock, progress }: Core, ...families: Family[]) => {
  const editor = new CatalogEditor(log, clock)
  const commands = putByHand(await editor.state(), families)
  const { position } = await editor.apply(commands, { actor: { kind: 'operator' } })
  await progress.passed(position, 5000)
}

/** A request for a job that the vendor does as it is told. */
export const order = (input: Partial<Order> = {}, model = 'vendor') => ({ model, input: { prompt: 'hello', ...input } })

/** The same for the sync endpoint. */
export const syncOrder = (input: Partial<Order> = {}, model = 'vendor') => ({
  model,
  input: { prompt: 'hello', image_url: 'none', ...input },
})
