import type { RunOutput, UploadGranted } from '../../schemas/account-events.ts'
import type { Balance } from '../../schemas/api/balance.ts'
import type { LedgerLine } from '../../schemas/api/ledger.ts'
import type { ModelEndpoint, ModelFamily, Pricing } from '../../schemas/api/model.ts'
import type { PackList } from '../../schemas/api/packs.ts'
import type { Purchase } from '../../schemas/api/purchase.ts'
import type { Quote, Run } from '../../schemas/api/run.ts'
import type { PresignedUpload, Upload } from '../../schemas/api/upload.ts'
import type { UsageList } from '../../schemas/api/usage.ts'
import type { Endpoint, Family, PriceRule, TokenUsage } from '../../schemas/catalog.ts'
import type { PriceList } from '../../schemas/packs.ts'
import type { PurchaseRow, RunRow, UploadRow } from '../../schemas/views.ts'
import { statusOf } from '../domain/catalog/family.ts'
import { priceRange, surchargeMicros } from '../domain/catalog/pricing.ts'
import { fromMicros } from '../domain/money.ts'
import type { OwnBalance } from './accounts/accounts.ts'
import type { Offer } from './catalog/offers.ts'
import type { Addresses } from './files/addresses.ts'
import type { LedgerEntry } from './ledger/ledger.ts'
import { ledgerLine, quoteLine } from './ledger/ledger-line.ts'
import type { Supply } from './providers/routes.ts'
import { customAmountItem, packItem } from './purchases/pack-item.ts'
import { purchaseItem } from './purchases/purchase-item.ts'
import { isStoredParameter } from './runs/long-parameters.ts'
import type { Quoted } from './runs/quotes.ts'
import { type UsagePage, usageItem } from './usage/usage.ts'

/** Presents rows in the form of the API: snake case, credits instead of microcredits, addresses instead of keys. */
export class Presenter {
  readonly #addresses: Addresses
  readonly #usdPerCreditMicros: number
  readonly #supplyOf: (endpoint: string) => Supply
  readonly #endpoints = new WeakMap<Endpoint, PresentedEndpoint>()

  constructor(addresses: Addresses, usdPerCreditMicros: number, supplyOf: (endpoint: string) => Supply) {
    this.#addresses = addresses
    this.#usdPerCreditMicros = usdPerCreditMicros
    this.#supplyOf = supplyOf
  }

  /** A past balance is a number only. */
  balance({
    balanceMicros,
    heldMicros,
    owedMicros = 0,
    split,
    nextExpiry,
  }: { balanceMicros: number } & Partial<OwnBalance>): Balance {
    return {
      object: 'balance',
      credits_balance: fromMicros(balanceMicros),
      ...(split && { credits_paid: fromMicros(split.paidMicros), credits_free: fromMicros(split.freeMicros) }),
      ...(nextExpiry && {
        credits_expiring: { credits: fromMicros(nextExpiry.amountMicros), expires_at: nextExpiry.expiresAt },
      }),
      ...(owedMicros > 0 && { credits_owed: fromMicros(owedMicros) }),
      ...(heldMicros !== undefined && { credits_held: fromMicros(heldMicros) }),
    }
  }

  packs({ packs, customAmount }: PriceList): PackList {
    return {
      object: 'list',
      data: packs.map(packItem),
      custom_amount: customAmount ? customAmountItem(customAmount) : null,
    }
  }

  purchase(row: PurchaseRow): Purchase {
    const { purchaseId, invoice } = row
    return {
      ...purchaseItem(row),
      ...(invoice !== undefined && { invoice_url: this.#addresses.invoiceOf(purchaseId) }),
    }
  }

  ledgerLine(entry: LedgerEntry): LedgerLine {
    return ledgerLine(entry)
  }

  usage({ found, next, groupBy, from, to }: UsagePage): UsageList {
    const data = found.map(counts => usageItem(counts, groupBy))
    return { object: 'list', data, has_more: next !== null, next_cursor: next, from, to }
  }

  /** `input` and `warnings` are shown only if given. */
  run(row: RunRow, { input, warnings }: RunExtras = {}): Run {
    const { provider, startedAt, completedAt, refundedMicros, releasedMicros, usage, finishReason } = row
    const { output, error, metadata, store, label, budget } = row
    return {
      object: 'run',
      run_id: row.runId,
      livemode: row.livemode !== false,
      status: row.status,
      model: row.model,
      endpoint: row.endpoint,
      ...(provider !== undefined && { provider }),
      created_at: row.createdAt,
      ...(startedAt !== undefined && { started_at: startedAt }),
      ...(completedAt !== undefined && { completed_at: completedAt }),
      ...(input && { input: this.#input(input, row) }),
      credits_charged: fromMicros(row.chargedMicros),
      ...(row.liveMicros !== undefined && { live_credits: fromMicros(row.liveMicros) }),
      ...(refundedMicros !== undefined && { credits_refunded: fromMicros(refundedMicros) }),
      ...(releasedMicros !== undefined && { credits_released: fromMicros(releasedMicros) }),
      ...(usage && { usage: usageOf(usage) }),
      ...(finishReason && { finish_reason: finishReason }),
      ...(output && { output: this.#output(output, row) }),
      ...(error && { error }),
      ...(store === false && { store }),
      ...(metadata && { metadata }),
      ...(label !== undefined && { label }),
      ...(budget !== undefined && { budget }),
      ...(warnings && { warnings }),
    }
  }

  /** An upload whose file has arrived. */
  upload(row: UploadRow): Upload {
    const { sizeBytes, sha256, folderPath } = row
    if (sizeBytes === undefined || sha256 === undefined) throw new Error(`the upload ${row.uploadId} has no file yet`)
    return {
      object: 'upload',
      id: row.uploadId,
      url: this.#addresses.urlOf(row.objectKey),
      size_bytes: sizeBytes,
      mime_type: row.mimeType,
      filename: row.filename,
      ...(folderPath !== undefined && { folder_path: folderPath }),
      sha256,
      created_at: row.createdAt,
      will_delete_at: row.willDeleteAt,
    }
  }

  /** A new grant. */
  presigned(
    { uploadId, objectKey, expiresAt, willDeleteAt, maxSizeBytes }: UploadGranted,
    url: string,
  ): PresignedUpload {
    return {
      id: uploadId,
      presigned_url: url,
      cdn_url: this.#addresses.urlOf(objectKey),
      method: 'PUT',
      expires_at: expiresAt,
      will_delete_at: willDeleteAt,
      max_size_bytes: maxSizeBytes,
    }
  }

  /** `status` is the status of the whole family, even if only a part of the family is shown. */
  family(family: Family, status = statusOf(family)): ModelFamily {
    const endpoints = family.endpoints.map(endpoint => this.#endpoint(endpoint))
    const { retiresAt } = this.retirement(family, family.id) ?? {}
    const [mode, ...otherModes] = new Set(family.endpoints.map(endpoint => endpoint.mode))
    return {
      id: family.id,
      object: 'model_family',
      created: 0,
      owned_by: 'tollgate',
      ...(retiresAt !== undefined && { shutdown_date: retiresAt.slice(0, 'YYYY-MM-DD'.length) }),
      name: family.name,
      aliases: family.aliases,
      output_type: family.outputType,
      status,
      ...(mode && otherModes.length === 0 && { mode }),
      credits_range: {
        min: fromMicros(Math.min(...endpoints.map(endpoint => endpoint.minMicros))),
        max: fromMicros(Math.max(...endpoints.map(endpoint => endpoint.maxMicros))),
      },
      endpoints: endpoints.map(({ shown }) => ({ ...shown, ...this.#supply(shown.id) })),
    }
  }

  #supply(endpoint: string): Pick<ModelEndpoint, 'available' | 'retires_at'> {
    const { available, retiresAt } = this.#supplyOf(endpoint)
    return { available, ...(retiresAt !== undefined && { retires_at: retiresAt }) }
  }

  /** Whether the sandbox does the live runs of an endpoint. */
  isSampled(endpoint: string): boolean {
    return this.#supplyOf(endpoint).isSampled === true
  }

  /** The retirement of a whole family, or of its endpoint `name`; undefined if none is announced. */
  retirement({ endpoints }: Family, name: string): Pick<Supply, 'retiresAt' | 'deprecatedAt'> | undefined {
    const named = endpoints.filter(({ id }) => id === name)
    const supplies = (named.length > 0 ? named : endpoints).map(({ id }) => this.#supplyOf(id))
    if (supplies.some(({ retiresAt }) => retiresAt === undefined)) return undefined
    return supplies.sort((one, other) => ((one.retiresAt ?? '') < (other.retiresAt ?? '') ? -1 : 1)).at(-1)
  }

  /** Changes with anything visible in an offer: the revision, the endpoints, and their supply. */
  versionOf({ family, revision }: Offer): string {
    const supplies = family.endpoints.map(({ id }) => [id, ...Object.values(this.#supplyOf(id))].join(' '))
    return `${family.id} ${revision} ${supplies.join(' ')}`
  }

  /** The price of a run. In test mode, it is hypothetical. */
  quote({ receipt, livemode, likelyMicros }: Pick<Quoted, 'receipt' | 'livemode' | 'likelyMicros'>): Quote {
    const { model, endpoint, totalMicros, lines, usdPerCreditMicros = this.#usdPerCreditMicros } = receipt
    const credits = fromMicros(totalMicros)
    return {
      object: 'quote',
      livemode: livemode !== false,
      model,
      endpoint,
      ...(livemode === false ? { credits: 0, live_credits: credits } : { credits }),
      ...(likelyMicros !== undefined && { likely_credits: fromMicros(likelyMicros) }),
      lines: lines.map(line => quoteLine(line, usdPerCreditMicros)),
    }
  }

  /** A long parameter is a file. */
  #input(input: Record<string, unknown>, { outputDeletedAt }: RunRow): Record<string, unknown> {
    const shown = (value: unknown): unknown => {
      if (!isStoredParameter(value)) return value
      const { objectKey, sizeBytes, sha256 } = value
      const url = outputDeletedAt === undefined ? { url: this.#addresses.urlOf(objectKey) } : {}
      return { ...url, size_bytes: sizeBytes, sha256 }
    }
    return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, shown(value)]))
  }

  #output({ artifacts, text, toolCalls, willDeleteAt }: RunOutput, row: RunRow): NonNullable<Run['output']> {
    const { provider, model, outputDeletedAt } = row
    const maker = { ...(provider !== undefined && { provider }), model }
    const provenance = artifacts.map(({ sha256, c2pa }) => ({ sha256, ...(c2pa && { c2pa }), ...maker }))
    const shown = {
      ...(text !== undefined && { text }),
      ...(toolCalls && { tool_calls: toolCalls }),
      ...(artifacts.length > 0 && { provenance }),
    }
    if (outputDeletedAt !== undefined) return { ...shown, deleted_at: outputDeletedAt }
    const urls = artifacts.map(artifact => this.#addresses.urlOf(artifact.objectKey))
    const [url, ...others] = urls
    const hasOne = others.length === 0
    // Image runs always return a list, even of one image. Other runs usually have one file.
    const isImage = artifacts[0]?.mimeType.startsWith('image/')
    return {
      ...(url && (isImage || !hasOne) && { urls }),
      ...(url && hasOne && { url }),
      ...shown,
      ...(willDeleteAt !== undefined && { will_delete_at: willDeleteAt }),
    }
  }

  /** Cached, because computing a price range takes a while and an endpoint never changes. */
  #endpoint(endpoint: Endpoint): PresentedEndpoint {
    let presented = this.#endpoints.get(endpoint)
    if (!presented) {
      const { id, kind, mode, status, description, parametersSchema, pricing } = endpoint
      presented = {
        ...priceRange(pricing, parametersSchema, this.#usdPerCreditMicros),
        shown: {
          id,
          kind,
          mode,
          status,
          description,
          parameters_schema: parametersSchema,
          pricing: this.#pricing(pricing),
        },
      }
      this.#endpoints.set(endpoint, presented)
    }
    return presented
  }

  #pricing({ baseMicros, quantities, multipliers, tokens, surcharges }: PriceRule): Pricing {
    const table = <Name extends string>(factors: Record<Name, number>) =>
      Object.fromEntries(
        Object.entries<number>(factors).map(([value, micros]) => [value, fromMicros(micros)]),
      ) as Record<Name, number>
    return {
      base_credits: fromMicros(baseMicros),
      quantities,
      multipliers: Object.fromEntries(Object.entries(multipliers).map(([name, factors]) => [name, table(factors)])),
      ...(tokens && { tokens_per_million: table(tokens) }),
      surcharges: surcharges.map(({ when, usdMicros }) => ({
        when,
        usd: fromMicros(usdMicros),
        credits: fromMicros(surchargeMicros(usdMicros, this.#usdPerCreditMicros)),
      })),
    }
  }
}

/** Clients know input and output as wholes, of which cached tokens and thoughts are parts. */
const usageOf = ({ input, cached_input, output, thinking, counted }: TokenUsage): NonNullable<Run['usage']> => ({
  input_tokens: input + cached_input,
  cached_input_tokens: cached_input,
  output_tokens: output + thinking,
  thinking_tokens: thinking,
  ...(counted && { counted }),
})

type RunExtras = { [Extra in 'input' | 'warnings']?: Run[Extra] | undefined }

interface PresentedEndpoint {
  shown: Omit<ModelEndpoint, 'available' | 'retires_at'>
  minMicros: number
  maxMicros: number
}
