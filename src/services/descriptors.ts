import { type Answer, answer } from './answer.ts'
import type { Caller } from './caller.ts'
import type { Offer, Offers } from './catalog/offers.ts'

/** The information that programs read to learn how to use the service. It is the same for every caller. */
export class Descriptors {
  readonly #offers: Offers

  constructor(offers: Offers) {
    this.#offers = offers
  }

  /** The families that descriptions of the service name: those open to every account. */
  async families(_caller: Caller): Promise<Answer<Offer[]>> {
    return answer(await this.#offers.list(false))
  }

  /** Allows a caller to read a protocol's own description, such as the list of MCP tools. */
  async protocol(_caller: Caller): Promise<Answer<undefined>> {
    return answer(undefined)
  }
}
