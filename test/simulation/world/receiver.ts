import { type Outbound, OutboundError } from '../../../src/ports/outbound.ts'
import type { World } from './world.ts'

/** The receiver of all webhooks. */
export class SimulatedReceiver {
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  port(): Outbound {
    const { chance, faults } = this.#world
    return {
      post: async (_url, { headers, body }) => {
        if (chance.happens(faults.receiverFails)) return { status: chance.pick([500, 503, 410]), retryAfter: undefined }
        this.#world.truth.expectWebhook(String(headers['webhook-id']), body)
        return { status: 200, retryAfter: undefined }
      },
      get: async () => {
        throw new OutboundError('refused', 'Nothing is fetched in this world.')
      },
      close: async () => undefined,
    }
  }
}
