import type { RunRequest } from '../../../schemas/api/run.ts'
import type { Endpoint, Receipt } from '../../../schemas/catalog.ts'
import { MAX_INPUT_BYTES, MAX_METADATA_BYTES } from '../../../schemas/primitives.ts'
import { chooseEndpoint } from '../../domain/catalog/choose-endpoint.ts'
import { priceOf } from '../../domain/catalog/pricing.ts'
import { refuse } from '../../domain/refusal.ts'
import { webhookUrlFault } from '../../domain/webhook-url.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer, type Refused } from '../answer.ts'
import type { AccountCaller } from '../caller.ts'
import type { Offers } from '../catalog/offers.ts'
import type { InputFiles } from './input-files.ts'

interface Parts {
  offers: Offers
  accounts: AccountMailboxes
  inputFiles: InputFiles
  usdPerCreditMicros: number
}

/** A request with its endpoint and price. `input` is the client's with the endpoint's defaults. */
export interface PricedRequest {
  endpoint: Endpoint
  input: Record<string, unknown>
  receipt: Receipt
}

/** Checks and prices requests. */
export class Quotes {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async quote(
    caller: AccountCaller,
    { model, input: given, metadata, webhook_url }: RunRequest,
  ): Promise<Answer<PricedRequest>> {
    const { offers, accounts, inputFiles, usdPerCreditMicros } = this.#parts
    const inputJson = JSON.stringify(given)
    const tooLarge =
      sizeRefusal('/metadata', metadata && JSON.stringify(metadata), MAX_METADATA_BYTES) ??
      sizeRefusal('/input', inputJson, MAX_INPUT_BYTES)
    if (tooLarge) return tooLarge
    const fault = webhook_url === undefined ? undefined : webhookUrlFault(webhook_url)
    if (fault) return refuse('webhook_url_invalid', { url: webhook_url as string, fault })
    const { tester } = await accounts.state(caller.accountId)
    const offer = await offers.find(model, tester)
    if (!offer) return refuse('model_not_found', { model })
    const { family } = offer
    const endpoint = chooseEndpoint(family, given)
    if (!endpoint)
      return refuse('kind_not_offered', { model: family.id, kinds: family.endpoints.map(each => each.kind) })
    // A copy, since defaults are filled in.
    const input: Record<string, unknown> = JSON.parse(inputJson)
    const faults = offers.fill(endpoint, input)
    if (faults.length > 0) return refuse('input_invalid', { endpoint: endpoint.id, faults })
    const refused = await inputFiles.check(caller, input)
    if (refused) return refused
    const priced = priceOf(endpoint.pricing, input, usdPerCreditMicros)
    const receipt = { catalogRevision: offer.revision, model: family.id, endpoint: endpoint.id, ...priced }
    return answer({ endpoint, input, receipt })
  }
}

const sizeRefusal = (path: string, json: string | undefined, limitBytes: number): Refused | undefined =>
  json !== undefined && Buffer.byteLength(json) > limitBytes
    ? refuse('part_too_large', { path, limitBytes })
    : undefined
