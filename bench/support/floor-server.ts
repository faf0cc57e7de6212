import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import Router from '@koa/router'
import { Ajv } from 'ajv'
import Koa from 'koa'
import { koaBody } from 'koa-body'
import { open } from 'lmdb'
import { LRUCache } from 'lru-cache'
import pino from 'pino'
import { type Static, type TObject, Type } from 'typebox'
import { Agent } from 'undici'

/**
 * The smallest server that keeps the guarantees of a sync run, as a measure of the service. It finds the account of the
 * key, limits and deduplicates requests, checks and prices the input, and makes two durable appends of chained events
 * around one request to the provider. A failed run is refunded in the append that ends it. All state is folded from the
 * log, also at the start, which checks the chain and ends interrupted runs. Each request leaves a log line, and a worker
 * keeps the views. It has one model, one rule for prices, and no way to read the views.
 */
const [folder = '', providerUrl = ''] = process.argv.slice(2)

const KEY = `tg_sk_live_${'0'.repeat(32)}`
const WELCOME_MICROS = 10 ** 15
const PRICE = { baseMicros: 20_000, microsPerCharacter: 10 }
const COST_MICROS_PER_TOKEN = 15
const MAX_REQUESTS_PER_MINUTE = 1_000_000
const MAX_RUNS_IN_FLIGHT = 1_000
const MAX_REMEMBERED_REQUESTS = 10_000
const TIMEOUT_MS = 60_000
const MAX_ANSWER_BYTES = 1_000_000

const Micros = Type.Integer({ minimum: 0 })
const Text = Type.String({ maxLength: 100_000 })
const RunId = Type.String({ pattern: '^[0-9a-f-]{36}$' })
const RunRequest = Type.Object({
  model: Type.Literal('gpt-6-1-terra'),
  input: Type.Object({ prompt: Text }, { additionalProperties: false }),
})
const Completion = Type.Object({
  choices: Type.Array(Type.Object({ message: Type.Object({ content: Text }) }), { minItems: 1 }),
  usage: Type.Object({ total_tokens: Type.Integer({ minimum: 0 }) }),
})
const events = {
  AccountOpened: Type.Object({ keyHash: Text, balanceAfterMicros: Micros }),
  CreditsDebited: Type.Object({
    ...{ runId: RunId, amountMicros: Micros, balanceAfterMicros: Micros },
    receipt: Type.Object({ baseMicros: Micros, microsPerCharacter: Micros, characters: Type.Integer() }),
    ...{ requestHash: Text, idempotencyKey: Type.Optional(Text) },
  }),
  RunStarted: Type.Object({ runId: RunId, ...RunRequest.properties }),
  RunCompleted: Type.Object({ runId: RunId, text: Text, costMicros: Micros }),
  CreditsRefunded: Type.Object({ runId: RunId, amountMicros: Micros, balanceAfterMicros: Micros }),
  RunFailed: Type.Object({ runId: RunId, error: Text }),
}
type Table = typeof events
type Fact = { [Type in keyof Table]: { type: Type; data: Static<Table[Type]> } }[keyof Table]
export type Event = Fact & { id: string; stream: string; revision: number; at: string }
/** The events of one append, as one value of the log. Each link covers the one before it in the stream. */
export type Entry = { link: string; event: Event }[]

const ajv = new Ajv()
const isRunRequest = ajv.compile<Static<typeof RunRequest>>(RunRequest)
const isCompletion = ajv.compile<Static<typeof Completion>>(Completion)
const checks = Object.fromEntries(Object.entries(events).map(([type, shape]) => [type, ajv.compile(shape as TObject)]))

interface Run {
  startedAt: string
  amountMicros: number
  requestHash: string
  /** What the client gets, once the run has ended. */
  answer?: object
}

interface Account {
  id: string
  balanceMicros: number
  revision: number
  link: string
  openRuns: Map<string, Run>
  /** By their idempotency keys. */
  requests: LRUCache<string, Run>
  requestsInMinute: { minute: number; count: number }
}

const accounts = new Map<string, Account>()
const accountOfKey = new Map<string, Account>()
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const newAccount = (id: string): Account => ({
  ...{ id, balanceMicros: 0, revision: -1, link: sha256(id), openRuns: new Map() },
  requests: new LRUCache<string, Run>({ max: MAX_REMEMBERED_REQUESTS }),
  requestsInMinute: { minute: 0, count: 0 },
})

const fold = (account: Account, { type, data, at, revision }: Event) => {
  account.revision = revision
  if ('balanceAfterMicros' in data) account.balanceMicros = data.balanceAfterMicros
  switch (type) {
    case 'AccountOpened':
      accounts.set(account.id, account)
      accountOfKey.set(data.keyHash, account)
      break
    case 'CreditsDebited': {
      const run = { startedAt: at, amountMicros: data.amountMicros, requestHash: data.requestHash }
      account.openRuns.set(data.runId, run)
      if (data.idempotencyKey !== undefined) account.requests.set(data.idempotencyKey, run)
      break
    }
    case 'RunCompleted':
      end(account, data.runId, { status: 'completed', output: { text: data.text } }, at)
      break
    case 'CreditsRefunded':
      openRun(account, data.runId).amountMicros -= data.amountMicros
      break
    case 'RunFailed':
      end(account, data.runId, { status: 'failed', error: data.error }, at)
  }
}

const openRun = (account: Account, runId: string) => account.openRuns.get(runId) as Run

const end = (account: Account, runId: string, outcome: object, at: string) => {
  const run = openRun(account, runId)
  const credits = run.amountMicros / 10_000
  run.answer = { id: runId, object: 'run', ...outcome, credits, started_at: run.startedAt, ended_at: at }
  account.openRuns.delete(runId)
}

const log = open<string, number>({
  ...{ path: join(folder, 'log'), encoding: 'string', keyEncoding: 'uint32' },
  // A commit resolves once it is on the disk, not once it is visible.
  overlappingSync: false,
})
const logger = pino({ base: null }, pino.destination({ sync: false, minLength: 4096, periodicFlush: 200 }))
let position = 0
let committed = Promise.resolve<unknown>(undefined)

/** Resolves when the events are on the disk. Later decisions build on them at once, so a failed write ends the process. */
const append = async (account: Account, ...facts: Fact[]): Promise<void> => {
  const at = new Date().toISOString()
  const texts = facts.map(({ type, data }) => {
    if (!checks[type]?.(data)) throw new Error(`${type}: ${ajv.errorsText(checks[type]?.errors)}`)
    const event = { type, data, id: randomUUID(), stream: account.id, revision: account.revision + 1, at } as Event
    const text = JSON.stringify(event)
    account.link = sha256(account.link + text)
    fold(account, event)
    return `{"link":"${account.link}","event":${text}}`
  })
  committed = log.put(position++, `[${texts.join()}]`).catch(error => {
    console.error(error)
    process.exit(1)
  })
  await committed
}

/** Ends a run whose work failed, with its refund. */
const fail = (account: Account, runId: string, error: string) => {
  const { amountMicros } = openRun(account, runId)
  const refund = { runId, amountMicros, balanceAfterMicros: account.balanceMicros + amountMicros }
  return append(account, { type: 'CreditsRefunded', data: refund }, { type: 'RunFailed', data: { runId, error } })
}

const restart = async () => {
  for (const { key, value } of log.getRange()) {
    for (const { link, event } of JSON.parse(value) as Entry) {
      const account = accounts.get(event.stream) ?? newAccount(event.stream)
      account.link = sha256(account.link + JSON.stringify(event))
      if (account.link !== link) throw new Error(`the chain of ${event.stream} is broken at ${event.revision}`)
      fold(account, event)
    }
    position = key + 1
  }
  for (const account of accounts.values())
    for (const runId of account.openRuns.keys()) await fail(account, runId, 'interrupted')
  if (accounts.size > 0) return
  const data = { keyHash: sha256(KEY), balanceAfterMicros: WELCOME_MICROS }
  await append(newAccount(randomUUID()), { type: 'AccountOpened', data })
}

const agent = new Agent({ headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS, maxResponseSize: MAX_ANSWER_BYTES })
const { origin, pathname } = new URL(`${providerUrl}/chat/completions`)
const providerHeaders = { 'content-type': 'application/json', authorization: 'Bearer sk-bench' }

/** One JSON request, without a client in between. */
const complete = async (prompt: string): Promise<Static<typeof Completion>> => {
  const body = JSON.stringify({ model: 'gpt-6.1-terra', messages: [{ role: 'user', content: prompt }] })
  const answer = await agent.request({ origin, path: pathname, method: 'POST', headers: providerHeaders, body })
  const completion = await answer.body.json()
  if (answer.statusCode === 200 && isCompletion(completion)) return completion
  throw new Error(`the provider answered ${answer.statusCode}`)
}

const admit = (account: Account): boolean => {
  const minute = Math.floor(Date.now() / 60_000)
  if (account.requestsInMinute.minute !== minute) account.requestsInMinute = { minute, count: 0 }
  account.requestsInMinute.count += 1
  return account.requestsInMinute.count <= MAX_REQUESTS_PER_MINUTE && account.openRuns.size < MAX_RUNS_IN_FLIGHT
}

const router = new Router()
router.post('/v1/run', koaBody(), async ctx => {
  const account = accountOfKey.get(sha256(ctx.get('authorization').slice('Bearer '.length)))
  if (!account) return ctx.throw(401)
  ctx.state['account'] = account.id
  if (!admit(account)) return ctx.throw(429)
  const request: unknown = ctx.request.body
  if (!isRunRequest(request)) return ctx.throw(400, ajv.errorsText(isRunRequest.errors))
  const requestHash = sha256(JSON.stringify(request))
  const idempotencyKey = ctx.get('idempotency-key')
  const known = idempotencyKey ? account.requests.get(idempotencyKey) : undefined
  if (known && known.requestHash !== requestHash) return ctx.throw(422)
  if (known && !known.answer) return ctx.throw(409)
  // What a repeated request gets must be on the disk, too.
  if (known) await committed
  ctx.body = known?.answer ?? (await run(account, request, { requestHash, ...(idempotencyKey && { idempotencyKey }) }))
  if (!ctx.body) return ctx.throw(402)
})

/** Resolves to what the client gets; undefined if the balance does not suffice. */
const run = async (
  account: Account,
  { model, input }: Static<typeof RunRequest>,
  identity: { requestHash: string; idempotencyKey?: string },
): Promise<object | undefined> => {
  const receipt = { ...PRICE, characters: input.prompt.length }
  const amountMicros = receipt.baseMicros + receipt.characters * receipt.microsPerCharacter
  const balanceAfterMicros = account.balanceMicros - amountMicros
  if (balanceAfterMicros < 0) return undefined
  const runId = randomUUID()
  const debit = { runId, amountMicros, balanceAfterMicros, receipt, ...identity }
  const started = { runId, model, input }
  const accepted = append(account, { type: 'CreditsDebited', data: debit }, { type: 'RunStarted', data: started })
  const opened = openRun(account, runId)
  await accepted
  try {
    const { choices, usage } = await complete(input.prompt)
    const text = choices[0]?.message.content ?? ''
    const completed = { runId, text, costMicros: usage.total_tokens * COST_MICROS_PER_TOKEN }
    await append(account, { type: 'RunCompleted', data: completed })
  } catch {
    await fail(account, runId, 'provider_error')
  }
  return opened.answer
}

const app = new Koa()
// The load generator aborts requests when it ends.
app.silent = true
app.use((ctx, next) => {
  const [startMs, requestId] = [performance.now(), randomUUID()]
  ctx.set('X-Request-Id', requestId)
  ctx.res.once('finish', () => {
    const { method, path, status, state } = ctx
    logger.info({ requestId, method, path, status, account: state['account'], ms: performance.now() - startMs })
  })
  return next()
})
app.use(router.routes())

await restart()
new Worker(join(import.meta.dirname, 'floor-projector.js'), { argv: [folder] }).once('error', error => {
  throw error
})
const server = createServer(app.callback()).listen(0, '127.0.0.1')
await once(server, 'listening')
process.on('message', () => process.exit(0))
process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, keys: [KEY] })
