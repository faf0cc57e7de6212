import type { RunRequest } from '../../../schemas/api/run.ts'
import type { Endpoint, Receipt } from '../../../schemas/catalog.ts'
import { MAX_INPUT_BYTES, MAX_METADATA_BYTES } from '../../../schemas/primitives.ts'
import { chooseEndpoint } from '../../domain/catalog/choose-endpoint.ts'
import { price } from '../../domain/catalog/pricing.ts'
import { webhookUrlFault } from '../../domain/webhook-url.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { ApiError } from '../api-error.ts'
import type { Asker } from '../asker.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { InputFiles } from './input-files.ts'

export interface QuotesParts {
  catalog: Catalog
  accounts: Accounts
  inputFiles: InputFiles
  usdPerCreditMicros: number
}

/** What a request comes to. `input` is the client's with the endpoint's defaults. */
export interface Quote {
  endpoint: Endpoint
  input: Record<string, unknown>
  receipt: Receipt
}

/** Finds out what requests ask for and what they cost. */
export class Quotes {
  readonly #parts: QuotesParts

  constructor(parts: QuotesParts) {
    this.#parts = parts
  }

  /** Rejects with ApiError where a request asks for nothing that there is. */
  async quote(asker: Asker, { model, input: given, metadata, webhook_url }: RunRequest): Promise<Quote> {
    const { catalog, accounts, inputFiles, usdPerCreditMicros } = this.#parts
    if (metadata) boundedJson('/metadata', metadata, MAX_METADATA_BYTES)
    const inputJson = boundedJson('/input', given, MAX_INPUT_BYTES)
    if (webhook_url !== undefined) checkWebhookUrl(webhook_url)
    const { tester } = await accounts.state(asker.accountId)
    const offer = await catalog.find(model, tester)
    if (!offer)
      throw new ApiError(
        'model_not_found',
        `There is no model ${JSON.stringify(model)}; the list of models (GET /v1/models, or the tool list_models) has those there are. What a model can do is chosen by its input.`,
      )
    const endpoint = chooseEndpoint(offer.family, given)
    if (!endpoint) {
      const kinds = offer.family.endpoints.map(one => one.kind).join(', ')
      const message = `${offer.family.id} has only these kinds: ${kinds}. With image_url an image-to-* kind is chosen, else a text-to-* one.`
      throw new ApiError('invalid_input', message, {
        errors: [{ path: '/input', message: 'asks for a kind that the model does not have' }],
      })
    }
    // A copy, since defaults are filled in.
    const input: Record<string, unknown> = JSON.parse(inputJson)
    const errors = catalog.fill(endpoint, input)
    if (errors.length > 0)
      throw new ApiError('invalid_input', `The input does not fit the parameters_schema of ${endpoint.id}.`, {
        errors: errors.map(({ path, message }) => ({ path: `/input${path}`, message })),
      })
    await inputFiles.check(asker, input)
    const { lines, totalMicros } = price(endpoint.pricing, input, usdPerCreditMicros)
    const receipt = {
      catalogRevision: offer.revision,
      model: offer.family.id,
      endpoint: endpoint.id,
      lines,
      totalMicros,
    }
    return { endpoint, input, receipt }
  }
}

const boundedJson = (path: string, value: object, limit: number): string => {
  const text = JSON.stringify(value)
  if (Buffer.byteLength(text) > limit)
    throw new ApiError('invalid_request', `${path} is larger than ${limit} bytes.`, {
      errors: [{ path, message: `must be at most ${limit} bytes of JSON` }],
    })
  return text
}

const checkWebhookUrl = (text: string) => {
  const fault = webhookUrlFault(text)
  if (fault)
    throw new ApiError('invalid_request', `webhook_url ${fault}.`, {
      errors: [{ path: '/webhook_url', message: fault }],
    })
}
