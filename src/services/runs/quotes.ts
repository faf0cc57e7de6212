import type { RunRequest } from '../../../schemas/api/run.ts'
import type { Endpoint, Receipt } from '../../../schemas/catalog.ts'
import type { Message, ResponseFormat, Tool, ToolChoice } from '../../../schemas/conversation.ts'
import { MAX_INPUT_BYTES, MAX_METADATA_BYTES, type Moded, type RunId } from '../../../schemas/primitives.ts'
import { unknownBudget } from '../../domain/account/budgets.ts'
import { modelRefusal } from '../../domain/account/keys.ts'
import { ceilingRefusal } from '../../domain/account/runs.ts'
import { choiceFaults, conversationFaults, formFaults } from '../../domain/catalog/conversation.ts'
import {
  chooseEndpoint,
  drawSeed,
  type FileParameter,
  interpretInput,
  placeIn,
  twiceIn,
} from '../../domain/catalog/inputs.ts'
import { priceOf } from '../../domain/catalog/pricing.ts'
import { usualTokens } from '../../domain/catalog/tokens.ts'
import { webhookUrlFault } from '../../domain/http-url.ts'
import { isWholeMicros, toMicros } from '../../domain/money.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Outbound } from '../../ports/outbound.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer, type Refused } from '../answer.ts'
import { type AccountCaller, keyIdOf, modeOf } from '../caller.ts'
import type { Offers } from '../catalog/offers.ts'
import type { Routes } from '../providers/routes.ts'
import { describeLimit } from '../schema-check.ts'
import type { Attachments } from './attachments.ts'
import type { InputFiles } from './input-files.ts'
import { type LongParameter, withoutLong } from './long-parameters.ts'

interface Dependencies {
  offers: Offers
  accounts: AccountMailboxes
  inputFiles: InputFiles
  outbound: Outbound
  routes: Pick<Routes, 'ofMode'>
  usdPerCreditMicros: number
}

/** For values that the schema allows, since some provider takes them, and no provider that is configured does. */
const UNMET = 'cannot be honoured with the other values by any provider of this model; change or remove it'

/** When to ask again for a model that no provider serves. Only the operator can change that. */
const UNSERVED_RETRY_MS = 60_000

/** A request with its endpoint and price. `input` is the client's as the endpoint's schema writes it, with defaults. */
export interface PricedRequest extends Moded {
  endpoint: Endpoint
  input: Record<string, unknown>
  receipt: Receipt
  /** The most that the run may cost. */
  maxMicros?: number
  /** Set if nothing of the run is to be kept. */
  store?: false
}

/** A priced request for a client that only asks for the price. */
export interface Quoted extends PricedRequest {
  /** The probable price, if tokens have a price. */
  likelyMicros?: number | undefined
}

/** Checks and prices requests. */
export class Quotes {
  readonly #dependencies: Dependencies

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** The size of the request has been checked. `arrived` is the parameter of a file that came with the request. */
  async priceRun(
    caller: AccountCaller,
    request: RunRequest,
    attachments?: Attachments,
    arrived?: FileParameter,
  ): Promise<Answer<PricedRequest>> {
    const { offers, accounts, inputFiles, outbound, usdPerCreditMicros } = this.#dependencies
    const { model, input: given, webhook_url, store } = request
    const ceiling = ceilingOf(request)
    if ('refuse' in ceiling) return ceiling
    const mode = modeOf(caller)
    const routes = this.#dependencies.routes.ofMode(mode)
    const fault = webhook_url === undefined ? undefined : webhookUrlFault(webhook_url)
    if (fault) return refuse('webhook_url_invalid', { parameter: 'webhook_url', url: webhook_url as string, fault })
    if (webhook_url !== undefined && outbound.refuses(webhook_url))
      return refuse('address_not_public', { parameter: 'webhook_url' })
    const state = await accounts.state(caller.accountId)
    const noBudget = unknownBudget(request, state)
    if (noBudget) return noBudget
    const tester = state.tester || mode.livemode === false
    const offer = await offers.find(model, tester)
    if (!offer) return refuse('model_not_found', { model, replacedBy: await offers.replacementOf(model, tester) })
    const { family } = offer
    const endpoint = chooseEndpoint(family, model, given)
    if (!endpoint)
      return refuse('kind_not_offered', { model: family.id, kinds: family.endpoints.map(each => each.kind) })
    const refused = modelRefusal(keyIdOf(caller), { model: family.id, endpoint: endpoint.id }, state)
    if (refused) return refused
    const isKept = store !== false && state.retentionDays !== 0
    if (!isKept && endpoint.mode !== 'sync') return refuse('store_not_async', { endpoint: endpoint.id })
    if (!isKept && webhook_url !== undefined) return refuse('store_without_webhook')
    // Checks a copy, because the check fills in defaults.
    const { parametersSchema } = endpoint
    const input = interpretInput(copyOf(given), parametersSchema)
    const invalid = offers.fill(endpoint, input)
    if (invalid.length === 0) {
      invalid.push(...conversationFaults((input['messages'] ?? []) as Message[]))
      invalid.push(...formFaults(input['response_format'] as ResponseFormat | undefined))
      invalid.push(
        ...choiceFaults(input['tool_choice'] as ToolChoice | undefined, input['tools'] as Tool[] | undefined),
      )
    }
    const faults = invalid.map(({ path, message }) => {
      const twice = twiceIn(given, parametersSchema, path.slice(1))
      return {
        path: placeIn(given, parametersSchema, path),
        message: twice === undefined ? message : `means the same as ${twice}; send only one of them`,
      }
    })
    if (faults.length > 0) return refuse('input_invalid', { endpoint: endpoint.id, faults })
    if (!routes.servesEndpoint(endpoint.id))
      return refuse('model_not_served', { endpoint: endpoint.id, retryAfterMs: UNSERVED_RETRY_MS })
    const unmet = routes.unmetParameters(endpoint.id, input)
    if (unmet) {
      const faults = unmet.parameters.map(name => ({
        path: placeIn(given, parametersSchema, `/${name}`),
        message: unmet.bound ? describeLimit(unmet.bound.keyword, unmet.bound.limit) : UNMET,
      }))
      return refuse('input_invalid', { endpoint: endpoint.id, faults })
    }
    const unusable = await inputFiles.check(caller, input, attachments, arrived)
    if (unusable) return unusable
    const { pricing } = endpoint
    const priced = priceOf(pricing, input, usdPerCreditMicros)
    const receipt = { catalogRevision: offer.revision, model: family.id, endpoint: endpoint.id, ...priced }
    return answer({ endpoint, input, receipt, ...ceiling.value, ...mode, ...(!isKept && { store: false }) })
  }

  /** The same with the probable price. */
  async quoteRun(caller: AccountCaller, request: RunRequest, attachments: Attachments): Promise<Answer<Quoted>> {
    const priced = await this.priceRun(caller, request, attachments)
    if ('refuse' in priced) return priced
    const tooDear = ceilingRefusal(priced.value)
    if (tooDear) return tooDear
    const { endpoint, input } = priced.value
    const { pricing } = endpoint
    const { usdPerCreditMicros } = this.#dependencies
    const likely = pricing.tokens && priceOf(pricing, input, usdPerCreditMicros, usualTokens(pricing, input))
    return answer({ ...priced.value, likelyMicros: likely?.totalMicros })
  }

  /**
   * The input of an accepted run. If the client leaves the seed to chance, the run's ID gives one, so that the result
   * can be made again, unless a seed would rule out a provider.
   */
  withSeed({ endpoint, input, livemode }: PricedRequest, runId: RunId): Record<string, unknown> {
    const seed = drawSeed(endpoint.parametersSchema, runId)
    if (seed === undefined || Object.hasOwn(input, 'seed')) return input
    const routes = this.#dependencies.routes.ofMode({ livemode })
    return routes.honoursFurther(endpoint.id, input, { seed }) ? { ...input, seed } : input
  }
}

/** A copy that shares its texts, which may be long. */
const copyOf = <Value>(value: Value): Value => {
  if (Array.isArray(value)) return value.map(copyOf) as Value
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, copyOf(each)])) as Value
}

const ceilingOf = ({ max_credits: credits }: RunRequest): Answer<Pick<PricedRequest, 'maxMicros'>> => {
  if (credits === undefined) return answer({})
  return isWholeMicros(credits) ? answer({ maxMicros: toMicros(credits) }) : refuse('max_credits_too_fine')
}

/**
 * Refuses a request with a part that is too large, apart from its long parameters. Comes before anything that is slow
 * for large values.
 */
export const sizeRefusal = (
  { input, metadata = {} }: RunRequest,
  long: readonly LongParameter[],
): Refused | undefined =>
  partRefusal('/metadata', metadata, MAX_METADATA_BYTES) ??
  partRefusal('/input', withoutLong(input, long), MAX_INPUT_BYTES)

const partRefusal = (path: string, part: object, limitBytes: number): Refused | undefined =>
  Buffer.byteLength(JSON.stringify(part)) > limitBytes ? refuse('part_too_large', { path, limitBytes }) : undefined
