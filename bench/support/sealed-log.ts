import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import pino from 'pino'
import type { Receipt } from '../../schemas/catalog.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { openLmdbEventLog } from '../../src/adapters/event-log/lmdb.ts'
import { systemRandom } from '../../src/adapters/random/system.ts'
import { openLmdbViewStore } from '../../src/adapters/view-store/lmdb.ts'
import { shipped } from '../../src/catalog/shipped.ts'
import { priceOf } from '../../src/domain/catalog/pricing.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { PublishedCatalog, publishShipped } from '../../src/services/catalog/published-catalog.ts'
import { parseSealKey } from '../../src/services/seals/seal-key.ts'
import { SealStream } from '../../src/services/seals/seal-stream.ts'
import { Sealer } from '../../src/services/seals/sealer.ts'
import { TreeStore } from '../../src/services/seals/tree-store.ts'
import { fillLog } from './fill.ts'
import { input } from './samples.ts'

/** Events per seal, as by default. */
const MAX_EVENTS = 10_000

/** Fills the log of a folder with runs at listed prices, and seals it. An audit finds nothing wrong with it. */
export const writeSealedLog = async (folder: string, size: { runs: number; accounts: number }): Promise<void> => {
  const log = openLmdbEventLog(join(folder, 'log'), error => {
    throw error
  })
  const views = openLmdbViewStore(join(folder, 'views'))
  const parts = { log, clock: systemClock, random: systemRandom, logger: pino({ level: 'silent' }) }
  await fillLog(log, { ...size, receipt: await publishPrices(log, new PublishedCatalog(parts)) })
  const { privateKey } = generateKeyPairSync('ed25519')
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const sealer = new Sealer({
    ...parts,
    seals: new SealStream(parts),
    trees: new TreeStore({ views, clock: systemClock }),
    key: parseSealKey(pem, { isDevelopment: false }),
    maxEvents: MAX_EVENTS,
    maxAgeMs: 0,
  })
  for await (const page of log.readAll(await sealer.restart())) {
    sealer.take(page)
    await sealer.sealWhatIsDue()
  }
  await views.close()
  await log.close()
}

/** Publishes the shipped catalog. Resolves to the price of a plain image. */
const publishPrices = async (log: EventLog, published: PublishedCatalog): Promise<Receipt> => {
  await publishShipped(log, published, shipped)
  const { families, revisions } = await published.state()
  const [model, endpointId] = ['nano-banana-2', 'nano-banana-2-t2i']
  const endpoint = families.get(model)?.endpoints.find(({ id }) => id === endpointId)
  const catalogRevision = revisions.get(model)
  if (!endpoint || catalogRevision === undefined) throw new Error(`the catalog does not list ${endpointId}`)
  return { catalogRevision, model, endpoint: endpointId, ...priceOf(endpoint.pricing, input, 10_000) }
}
