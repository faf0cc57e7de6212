import type { Receipt } from '../../schemas/catalog.ts'
import { systemRandom } from '../../src/adapters/random/system.ts'
import { newRunId } from '../../src/services/ids.ts'

/** The input of a plain image. */
export const input = {
  prompt: 'a lighthouse at dusk',
  num_images: 1,
  resolution: '1K',
  aspect_ratio: '16:9',
  output_format: 'png',
}

/** Its price, by a rule that no catalog lists. */
export const receipt: Receipt = {
  catalogRevision: 0,
  model: 'nano-banana-2',
  endpoint: 'nano-banana-2-t2i',
  lines: [
    { kind: 'base', amountMicros: 10_000_000 },
    { kind: 'quantity', parameter: 'num_images', value: 1 },
    { kind: 'multiplier', parameter: 'resolution', value: '1K', factorMicros: 1_000_000 },
  ],
  totalMicros: 10_000_000,
}

/** A debit of realistic size. */
export const debited = () => ({
  type: 'CreditsDebited',
  data: {
    runId: newRunId(systemRandom),
    amountMicros: 10_000_000,
    balanceAfterMicros: 90_000_000,
    receipt,
  },
  metadata: {
    at: '2026-01-01T00:00:00.000Z',
    actor: { kind: 'key', keyId: 'key_01h455vb4pex5vsknk084sn02q' },
    requestId: '0b1f9d34-64aa-4a53-8f39-b9a2b1ff8a5a',
    hash: 'a'.repeat(64),
  },
})
