import { join } from 'node:path'
import { TypeID } from 'typeid-js'
import { v7 } from 'uuid'
import type { RunOutput } from '../../schemas/account-events.ts'
import type { Endpoint, Family, Receipt } from '../../schemas/catalog.ts'
import type { AccountId, KeyId, RunId } from '../../schemas/primitives.ts'
import { openLmdbEventLog } from '../../src/adapters/event-log/lmdb.ts'
import { systemRandom } from '../../src/adapters/random/system.ts'
import { openCore } from '../../src/boot/core.ts'
import { readConfig } from '../../src/boot/read-config.ts'
import { shipped } from '../../src/catalog/shipped.ts'
import type { QueueRun } from '../../src/domain/account/commands.ts'
import { priceOf } from '../../src/domain/catalog/pricing.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { generateKey } from '../../src/services/accounts/api-keys.ts'
import { OutputKeys } from '../../src/services/files/output-keys.ts'
import { AccountWriter } from './account-writer.ts'
import { fillLog } from './fill.ts'

/** An account with many runs. */
export interface ConsoleAccount {
  address: string
  models: string[]
  keys: KeyId[]
  labels: string[]
  /** The newest run. */
  runId: RunId
  requestId: string
  /** The revision of the debit of an old run. */
  oldDebit: number
  accountId: AccountId
}

/** A million runs take a year. Fewer runs are those of its last days, so that a day has as many. */
export const RUN_EVERY_MS = (365 * 24 * 60 * 60 * 1000) / 1_000_000

const MODELS = [
  ...['nano-banana-2', 'flux-2-pro', 'gpt-image-2-6', 'seedream-4-5', 'z-image-turbo', 'ideogram-v3'],
  ...['gpt-6-1-terra', 'claude-haiku-4-5', 'kling-3-pro', 'veo-3-1-fast', 'eleven-v3', 'lyria-2'],
]

const KEYS = 20
const LABELS = 80

/** Of so many runs one fails, and one has a webhook. */
const FAILS_EVERY = 25
const CALLS_BACK_EVERY = 50

/** The other accounts of the service, with a few runs each. */
const OTHER_ACCOUNTS = 500

/** Four million events take minutes. */
const MAX_PROJECTING_MS = 60 * 60 * 1000

/** Runs per append. */
const BATCH = 200

/** Fills the log of a folder, as the service would have within a year. */
export const writeConsoleAccount = async (folder: string, runs: number): Promise<ConsoleAccount> => {
  const log = openLmdbEventLog(join(folder, 'log'), error => {
    throw error
  })
  await fillLog(log, { runs: OTHER_ACCOUNTS * 4, accounts: OTHER_ACCOUNTS })
  const { writer, ...written } = await writeRuns(log, runs)
  await log.close()
  const core = await openCore(readConfig({ DATA_DIR: folder, LOG_LEVEL: 'silent' }))
  await core.progress.passed(await core.log.head(), MAX_PROJECTING_MS)
  await writer.saveSnapshot(core)
  await core.close()
  return { ...written, accountId: writer.accountId }
}

const writeRuns = async (log: EventLog, runs: number) => {
  const address = 'owner@example.com'
  const endMs = Date.now() - 60_000
  const timeOf = (run: number) => Math.floor(endMs - (runs - run) * RUN_EVERY_MS)
  const firstAt = new Date(timeOf(-1)).toISOString()
  const writer = await AccountWriter.open(log, address, firstAt)
  const keys = Array.from({ length: KEYS }, (_, index) => {
    const { key } = generateKey({ random: systemRandom, keyPrefix: 'tg' }, { name: `Service ${index + 1}` })
    writer.apply({ type: 'CreateApiKey', key }, firstAt)
    return key.keyId
  })
  const works = MODELS.map(workOf)
  const outputs = new OutputKeys('bench')
  let oldDebit = 0
  let last = { runId: '' as RunId, requestId: '' }
  for (let run = 0; run < runs; run++) {
    const ms = timeOf(run)
    const at = new Date(ms).toISOString()
    const runId = TypeID.fromUUID('run', v7({ msecs: ms })).toString() as RunId
    // A multiplicative hash: the same runs each time, in no order.
    const drawn = Math.imul(run + 1, 2_654_435_761) >>> 0
    // Large accounts have a key for each of their services, and a service uses few models and labels.
    const key = drawn % KEYS
    const keyId = keys[key] as KeyId
    const { queue, output } = works[(key + ((drawn >>> 8) % 3)) % works.length] as Work
    const isRare = run === runs >> 1
    const label = isRare
      ? { label: RARE_LABEL }
      : drawn % 3 === 0
        ? {}
        : { label: labelOf((key * 4 + ((drawn >>> 16) % 4)) % LABELS) }
    const webhook = run % CALLS_BACK_EVERY === 0 ? { webhookUrl: 'https://example.com/hook' } : {}
    if (run === runs >> 2) oldDebit = writer.events
    last = { runId, requestId: systemRandom.uuid() }
    const cause = { actor: { kind: 'key', keyId }, requestId: last.requestId }
    const prompt = `${PROMPTS[run % PROMPTS.length]}, number ${run}`
    const input = { ...queue.run.input, prompt }
    writer.apply({ ...queue, keyId, ...label, run: { ...queue.run, ...webhook, runId, input } }, at, cause)
    const isFailed = (drawn >>> 4) % FAILS_EVERY === 0
    const upstream = { provider: 'sandbox', model: 'sandbox' }
    if (isFailed)
      writer.apply({ type: 'FailRun', runId, upstream, error: { code: 'provider_error', message: 'It is busy.' } }, at)
    else writer.apply({ type: 'CompleteRun', runId, upstream, output: output(runId, outputs) }, at)
    if (webhook.webhookUrl) {
      const outcome = isFailed
        ? { delivered: false as const, reason: 'timed out' }
        : { delivered: true as const, status: 200 }
      writer.apply({ type: 'RecordDelivery', runId, attempt: 1, outcome }, at)
    }
    if (run % BATCH === 0) await writer.flush()
  }
  await writer.flush()
  const labels = Array.from({ length: LABELS }, (_, index) => labelOf(index))
  return { writer, oldDebit, address, models: MODELS, keys, labels, ...last }
}

const PROMPTS = ['A quiet mountain lake at sunrise', 'A portrait of a baker in warm light', 'A city street in the rain']

/** One run in the middle of the year has it. */
export const RARE_LABEL = 'once'

const labelOf = (index: number) => `customer-${index}`

interface Work {
  queue: QueueRun
  output(runId: RunId, keys: OutputKeys): RunOutput
}

/** A usual run of a model: its request, and what it makes. */
const workOf = (id: string): Work => {
  const family = shipped.find(each => each.id === id) as Family
  const endpoint = family.endpoints[0] as Endpoint
  const { properties, required = [] } = endpoint.parametersSchema
  const input: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(properties)) {
    const value = schema['default'] ?? (required.includes(name) ? 'A quiet mountain lake at sunrise' : undefined)
    if (value !== undefined) input[name] = value
  }
  const price = priceOf(endpoint.pricing, input, 10_000)
  const receipt: Receipt = { catalogRevision: 0, model: id, endpoint: endpoint.id, ...price }
  const { mode, timeoutMs } = endpoint
  const run = { runId: '' as RunId, model: id, endpoint: endpoint.id, mode, timeoutMs, input }
  const mimeType = { image: 'image/png', video: 'video/mp4', audio: 'audio/mpeg', text: undefined }[family.outputType]
  const file = { sizeBytes: 1_200_000, sha256: 'a'.repeat(64) }
  return {
    queue: { type: 'QueueRun', run, receipt, startAt: { provider: 'sandbox', model: 'sandbox' } },
    output: (runId, keys) =>
      mimeType
        ? { artifacts: [{ objectKey: keys.keyOf(runId, 0, mimeType), mimeType, ...file }] }
        : { artifacts: [], text: 'The lake lies still, and the first light turns its water to gold. '.repeat(6) },
  }
}
