import { type Outbound, OutboundError } from '../../../src/ports/outbound.ts'
import type { World } from './world.ts'

/** The receiver of all webhooks. */
export class SimulatedReceiver {
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  port(): Outbound {
    const { chance, truth, timeline } = this.#world
    return {
      refuses: () => false,
      post: async (url, { headers, body, timeoutMs }) => {
        const id = String(headers['webhook-id'])
        if (url.includes('/notices/')) truth.notices.expectArrival(id, url, body)
        else if (JSON.parse(body).type === 'webhook.test') truth.expectWebhookTest(id, url)
        else truth.expectWebhook(id, url, body)
        const { receiverFails, receiverHangs } = this.#world.faults
        if (chance.happens(receiverHangs)) {
          this.#world.count('receiver hangs')
          await timeline.pass(timeoutMs)
          throw new OutboundError('failed', 'The receiver did not answer.')
        }
        if (chance.happens(receiverFails)) return { status: chance.pick([500, 503, 410]), retryAfter: undefined }
        truth.noteAnswer(id)
        return { status: 200, retryAfter: undefined }
      },
      get: async () => {
        throw new OutboundError('refused', 'Nothing is fetched in this world.')
      },
      copy: async () => {
        throw new OutboundError('refused', 'Nothing is copied in this world.')
      },
      close: async () => undefined,
    }
  }
}
