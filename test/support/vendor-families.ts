import type { Endpoint, Family } from '../../schemas/catalog.ts'
import type { Core } from '../../src/boot/core.ts'
import { putByHand } from '../../src/domain/catalog/catalog.ts'
import { endpoint, family, parameters, priceRule } from './catalog-samples.ts'
import { unwrap } from './unwrap.ts'
import type { Order } from './vendor.ts'

/** A family for 1 credit with jobs at a vendor: async text-to-image, sync image-to-image. */
export const vendorFamily = (id = 'vendor', differences: Partial<Endpoint> = {}): Family => {
  const common = {
    timeoutMs: 60_000,
    parametersSchema: parameters({
      image_url: { type: 'string' },
      num_images: { type: 'integer' },
      workMs: { type: 'integer', default: 0 },
      result: { type: 'string', default: 'text' },
      faults: { type: 'array', default: [] },
    }),
    pricing: priceRule({ baseMicros: 1_000_000 }),
    ...differences,
  }
  const endpoints = [endpoint('t2i', { ...common, mode: 'async' }), endpoint('i2i', { ...common, mode: 'sync' })]
  return family(id, {}, endpoints)
}

/** Publishes families, and resolves when clients can see them. */
export const offer = async ({ publishedCatalog, progress }: Core, ...families: Family[]) => {
  const commands = putByHand(await publishedCatalog.state(), families)
  const { position } = unwrap(await publishedCatalog.apply({ kind: 'operator', name: 'test' }, commands))
  await progress.passed(position, 5000)
}

/** A request for a job at the vendor. */
export const order = (input: Partial<Order> = {}, model = 'vendor') => ({ model, input: { prompt: 'hello', ...input } })

/** The same for the sync endpoint. */
export const syncOrder = (input: Partial<Order> = {}, model = 'vendor') => ({
  model,
  input: { prompt: 'hello', image_url: 'none', ...input },
})
