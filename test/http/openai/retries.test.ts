import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import type OpenAI from 'openai'
import t from 'tap'
import type { ChatCompletion } from '../../../schemas/api/openai/chat.ts'
import type { RunList } from '../../../schemas/api/run.ts'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { openAiClient } from '../../support/openai-client.ts'
import { type Customer, openAccount, openKey, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'

let laterMs = 0
const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + laterMs }
const service = await startService(t, { clock })

const chat = (content: string, delay_ms = 0) =>
  ({
    model: 'sandbox',
    messages: [{ role: 'user', content }],
    delay_ms,
  }) as OpenAI.ChatCompletionCreateParamsNonStreaming

const runsOf = async (owner: Customer) => (await owner.send<RunList>('/v1/runs')).body.data

const tester = () => openAccount(service, { tester: true })

const FIRST = 0
const REPEATED = 1

/** What the official clients send, without their own repetitions. */
const post = (owner: Customer, body: object, attempt: number, signal?: AbortSignal) =>
  owner.send<ChatCompletion>('/v1/chat/completions', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Stainless-Retry-Count': String(attempt) },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  })

/** A request that the client breaks off once its run has begun. */
const cutOff = async (owner: Customer, body: object) => {
  const before = (await runsOf(owner)).length
  const cut = new AbortController()
  const asked = post(owner, body, FIRST, cut.signal)
  asked.catch(() => undefined)
  await until('the run has begun', async () => (await runsOf(owner)).length > before)
  cut.abort()
  await t.rejects(asked)
}

t.test('a client whose connection is cut gets the same run, which is charged once', async t => {
  for (const delayMs of [200, 2_000]) {
    const owner = await tester()
    let connections = 0
    const proxy = createServer(async inner => {
      const outer = connect(service.port, '127.0.0.1')
      for (const socket of [inner, outer]) socket.on('error', () => undefined)
      inner.pipe(outer)
      outer.pipe(inner)
      if (++connections > 1) return
      await until('the run has begun', async () => (await runsOf(owner)).length > 0)
      inner.destroy()
      outer.destroy()
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    t.teardown(() => proxy.close())
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const { client, sent } = openAiClient({ url, apiKey: owner.apiKey })
    const { id, choices } = await client.chat.completions.create(chat('hello', delayMs))
    t.equal(choices[0]?.message.content, 'Sandbox heard: hello')
    t.equal(sent.at(-1)?.headers.get('Idempotent-Replayed'), 'true')
    t.same(
      (await runsOf(owner)).map(run => run.run_id),
      [id],
    )
    t.equal(await owner.balance(), 99)
    t.equal(connections, 2)
  }
})

t.test('a client that loses patience gets the same run', async t => {
  const owner = await tester()
  const { client } = openAiClient(owner, { timeout: 400 })
  const { id } = await client.chat.completions.create(chat('hello', 700))
  t.same(
    (await runsOf(owner)).map(run => run.run_id),
    [id],
  )
  t.equal(await owner.balance(), 99)
})

t.test('once a client has an answer, an equal request is a new run', async t => {
  const owner = await tester()
  await cutOff(owner, chat('hello', 1_000))
  const repeated = await post(owner, chat('hello', 1_000), REPEATED)
  t.equal(repeated.status, 200)
  t.equal((await runsOf(owner)).length, 1)
  const { body } = await post(owner, chat('hello', 1_000), REPEATED)
  t.not(body.id, repeated.body.id)
  t.equal(await owner.balance(), 98)
})

t.test('a failed run that the client knows of is run again', async t => {
  const owner = await tester()
  const failing = { ...chat('hello', 1_000), outcome: 'provider_error' }
  await cutOff(owner, failing)
  t.equal((await post(owner, failing, REPEATED)).status, 502)
  t.equal((await runsOf(owner)).length, 1)
  t.equal((await post(owner, failing, REPEATED)).status, 502)
  t.equal((await runsOf(owner)).length, 2)
  t.equal(await owner.balance(), 100)
})

t.test('only a repetition of the same request by the same key gets its run', async t => {
  const owner = await tester()
  const other = await openKey(service, owner)
  await cutOff(owner, chat('hello', 1_000))
  const [first] = await runsOf(owner)
  const others = [
    await post(owner, chat('hello', 1_000), FIRST),
    await post(owner, chat('hello', 1_001), REPEATED),
    await post(other, chat('hello', 1_000), REPEATED),
  ]
  for (const { body } of others) t.not(body.id, first?.run_id)
  t.equal(await owner.balance(), 96)
  t.equal((await post(owner, chat('hello', 1_000), REPEATED)).body.id, first?.run_id)
  t.equal(await owner.balance(), 96)
})

t.test('of equal requests, each that was cut off is repeated once', async t => {
  const owner = await tester()
  await cutOff(owner, chat('hello', 300))
  const whole = post(owner, chat('hello', 300), FIRST)
  await until('the second run has begun', async () => (await runsOf(owner)).length === 2)
  await cutOff(owner, chat('hello', 300))
  const cut = [await post(owner, chat('hello', 300), REPEATED), await post(owner, chat('hello', 300), REPEATED)]
  const ids = [await whole, ...cut].map(({ body }) => body.id)
  t.same(new Set(ids), new Set((await runsOf(owner)).map(run => run.run_id)))
  t.equal(await owner.balance(), 97)
})

t.test('an answer is kept for two minutes', async t => {
  const owner = await tester()
  t.teardown(() => {
    laterMs = 0
  })
  for (const [waitedMs, runs] of [
    [119_000, 1],
    [121_000, 3],
  ] as const) {
    await cutOff(owner, chat(`for ${waitedMs} ms`, 50))
    await until('the run has ended', async () => (await runsOf(owner)).every(run => run.status === 'completed'))
    laterMs += waitedMs
    t.equal((await post(owner, chat(`for ${waitedMs} ms`, 50), REPEATED)).status, 200)
    t.equal((await runsOf(owner)).length, runs)
  }
})

t.test('a request that was accepted without the service knowing is not charged twice', async t => {
  const owner = await tester()
  await losingAnswer(() => post(owner, chat('hello'), FIRST))
  t.equal(await owner.balance(), 99)
  // Nobody works on the run until its lease ends.
  await t.rejects(post(owner, chat('hello'), REPEATED, AbortSignal.timeout(1_000)))
  t.equal((await runsOf(owner)).length, 1)
  t.equal(await owner.balance(), 99)

  await losingAnswer(() => post(owner, chat('later'), FIRST))
  laterMs += 121_000
  t.equal((await post(owner, chat('later'), REPEATED)).status, 200, 'it is forgotten as soon as others')
  laterMs = 0
  t.equal((await runsOf(owner)).length, 3)
})

t.test('after a restart, a repetition gets the run of the first request', async t => {
  const folder = await temporaryFolder(t)
  const before = await startService(t, { folder })
  const owner = await openAccount(before, { tester: true })
  const cut = [chat('kept', 50), { ...chat('failed', 50), outcome: 'provider_error' }]
  for (const body of cut) await cutOff(owner, body)
  const ended = async () => (await runsOf(owner)).every(run => /completed|failed/.test(run.status))
  await until('the runs have ended', ended)
  const [failed, kept] = await runsOf(owner)
  await before.stop()

  let laterMs = 0
  const after = await startService(t, { folder, clock: { ...systemClock, nowMs: () => Date.now() + laterMs } })
  const client = Object.assign(after.client(owner.apiKey), owner, { url: after.url })
  t.equal((await post(client, chat('kept', 50), REPEATED)).body.id, kept?.run_id)
  t.not((await post(client, chat('kept', 51), REPEATED)).body.id, kept?.run_id, 'another request is another run')
  const again = await post(client, { ...chat('failed', 50), outcome: 'provider_error' }, REPEATED)
  t.equal(again.status, 502)
  t.not(again.headers.get('Tollgate-Run'), failed?.run_id)
  laterMs = 121_000
  t.not((await post(client, chat('kept', 50), REPEATED)).body.id, kept?.run_id, 'it is kept for two minutes')
})

/** The log keeps what a request appends, but the service does not learn of it. */
const losingAnswer = async (send: () => Promise<{ status: number }>) => {
  const { accounts } = service.core
  const { execute } = accounts
  accounts.execute = async (...command) => {
    accounts.execute = execute
    await execute.apply(accounts, command)
    throw new Unavailable('the answer of the log was lost')
  }
  t.equal((await send()).status, 503)
}
