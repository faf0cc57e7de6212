import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import type { LedgerList } from '../../schemas/api/ledger.ts'
import type { Quote, Run } from '../../schemas/api/run.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import type { Clock } from '../../src/ports/clock.ts'
import { caughtUp } from '../support/caught-up.ts'
import { checkAnswer } from '../support/document.ts'
import { type Customer, openAccount, startService } from '../support/service.ts'
import { said, speakingProvider } from '../support/speaking-provider.ts'
import { until } from '../support/until.ts'

const { provider, nextCall, calls } = speakingProvider()
const service = await startService(t, { providers: { sandbox: provider } })

const request = (more: object = {}) => ({ model: 'gpt-6-1-terra', input: { prompt: 'Why?' }, stream: true, ...more })

interface Streamed {
  response: Response
  /** The events until the stream ends. */
  events(): Promise<{ name: string; data: { text?: string } & Partial<Run> }[]>
  /** Resolves once this text is part of the stream. */
  heard(text: string): Promise<unknown>
  /** How many comments have arrived. */
  comments(): number
  leave(): void
}

const stream = async (
  customer: Customer,
  body: object = request(),
  headers: Record<string, string> = {},
  { url } = service,
): Promise<Streamed> => {
  const leaving = new AbortController()
  const response = await fetch(`${url}/v1/run`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${customer.apiKey}`, 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: leaving.signal,
  })
  let received = ''
  const read = (async () => {
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) received += piece
  })()
  read.catch(() => undefined)
  return {
    response,
    events: async () => {
      await read
      const { status, headers } = response
      checkAnswer('POST', '/v1/run', { status, headers, text: received })
      return received
        .split('\n\n')
        .filter(block => block.startsWith('event:'))
        .map(block => {
          const fields = Object.fromEntries(block.split('\n').map(line => line.split(/: (.*)/s, 2)))
          return { name: fields.event, data: JSON.parse(fields.data) }
        })
    },
    heard: text => until(`the client hears ${text}`, () => received.includes(text)),
    comments: () => received.split('\n\n').filter(block => block.startsWith(':')).length,
    leave: () => leaving.abort(),
  }
}

const textOf = (events: { name: string; data: { text?: string } }[]) =>
  events.flatMap(({ name, data }) => (name === 'delta' ? data.text : [])).join('')

const lastRun = async (customer: Customer) => (await customer.send<{ data: Run[] }>('/v1/runs')).body.data[0] as Run

const hasEnded = async (customer: Customer) => ['completed', 'failed'].includes((await lastRun(customer)).status)

t.test('a text arrives piece by piece, and the run at the end', async t => {
  const customer = await openAccount(service)
  const answer = stream(customer)
  const call = await nextCall()
  call.say('A ledger ')
  const { response, heard, events } = await answer
  t.match(response.headers.get('Content-Type'), /^text\/event-stream/)
  await heard('A ledger ')
  call.say('remembers.')
  await heard('remembers.')
  call.end(said('A ledger remembers.'))
  const all = await events()
  t.equal(textOf(all), 'A ledger remembers.')
  const run = all.at(-1)
  t.match(run, { name: 'run', data: { status: 'completed', output: { text: 'A ledger remembers.' }, livemode: true } })
  const { credits_charged = 0, credits_released = 0 } = run?.data ?? {}
  t.ok(credits_released > 0)
  t.equal(await customer.balance(), (100e6 - credits_charged * 1e6 + credits_released * 1e6) / 1e6)
  const { data } = (await customer.send<LedgerList>('/v1/ledger')).body
  t.same(
    data.map(({ kind }) => kind),
    ['release', 'debit', 'grant'],
  )
})

t.test('without a stream, the provider is not asked for one, and the run is the same', async t => {
  const customer = await openAccount(service)
  const answer = customer.run({ ...request(), stream: false })
  const call = await nextCall()
  t.equal(call.job.onText, undefined)
  call.end(said('A ledger remembers.'))
  const { body } = await answer
  t.match(body, { status: 'completed', output: { text: 'A ledger remembers.' } })
})

t.test('Accept asks for a stream too, and a model without text ignores it', async t => {
  const customer = await openAccount(service)
  const accept = { Accept: 'text/event-stream, application/json' }
  const answer = stream(customer, { ...request(), stream: undefined }, accept)
  const call = await nextCall()
  call.say('Yes.')
  call.end(said('Yes.'))
  const { events } = await answer
  t.equal(textOf(await events()), 'Yes.')
  const picture = customer.run({ model: 'nano-banana-2', input: { prompt: 'x' } }, accept)
  const other = await nextCall()
  other.end({ kind: 'failed', code: 'provider_error', message: 'no' })
  t.match((await picture).body, { object: 'run', status: 'failed' })
})

t.test('a dry run shows the most that a run can cost, and what it probably costs', async t => {
  const customer = await openAccount(service)
  const input = { prompt: 'x'.repeat(4000), max_output_tokens: 10_000 }
  const { body } = await customer.post<Quote>('/v1/run?dry_run=true', { model: 'claude-haiku-4-5', input })
  // Credits for a million tokens: 120 of input and 600 of output. A usual answer has 400 tokens.
  t.ok(body.credits > 6.48 && body.credits < 6.5, `${body.credits}`)
  t.ok(Number(body.likely_credits) > 0.36 && Number(body.likely_credits) < 0.37, `${body.likely_credits}`)
  t.equal(calls.length, 0)
})

t.test('a stream of a model without text is refused before any charge', async t => {
  const customer = await openAccount(service)
  const { status, body } = await customer.run({ model: 'nano-banana-2', input: { prompt: 'x' }, stream: true })
  t.equal(status, 400)
  t.match(body.error, { code: 'invalid_request', errors: [{ path: '/stream' }] })
  t.equal(await customer.balance(), 100)
  t.equal(calls.length, 0)
})

t.test('a run that fails before there is text is answered as JSON, and refunded', async t => {
  const customer = await openAccount(service)
  const answer = customer.run(request())
  const call = await nextCall()
  call.end({ kind: 'failed', code: 'content_rejected', message: 'no' })
  const { status, body, headers } = await answer
  t.equal(status, 200)
  t.match(headers.get('Content-Type'), /^application\/json/)
  t.match(body, { status: 'failed', error: { code: 'content_rejected' } })
  t.equal(await customer.balance(), 100)
})

t.test('a run that fails after some text ends the stream as failed, and is refunded in full', async t => {
  const customer = await openAccount(service)
  const answer = stream(customer)
  const call = await nextCall()
  call.say('A led')
  const { heard, events } = await answer
  await heard('A led')
  call.end({ kind: 'failed', code: 'provider_error', message: 'no' })
  t.match((await events()).at(-1), { name: 'run', data: { status: 'failed' } })
  t.equal(await customer.balance(), 100)
})

t.test('a client that leaves after some text pays for it', async t => {
  const customer = await openAccount(service)
  const answer = stream(customer)
  const call = await nextCall()
  call.say('A ledger remembers, and ')
  const { heard, leave } = await answer
  await heard('and ')
  leave()
  await until('the run ends', () => hasEnded(customer))
  const run = await lastRun(customer)
  t.match(run, { status: 'completed', finish_reason: 'cancelled', output: { text: 'A ledger remembers, and ' } })
  t.match(run.usage, { counted: true, output_tokens: 6 })
  const { credits_charged, credits_released = 0 } = run
  t.ok(credits_released > 0 && credits_released < credits_charged)
  t.ok(call.signal.aborted, 'the provider is told')
})

t.test('a client that leaves before there is text gets everything back', async t => {
  const customer = await openAccount(service)
  const leaving = new AbortController()
  const answer = customer.send('/v1/run', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(request()),
    signal: leaving.signal,
  })
  await nextCall()
  leaving.abort()
  await t.rejects(answer)
  await until('the run ends', () => hasEnded(customer))
  t.match(await lastRun(customer), { status: 'failed', error: { code: 'cancelled' } })
  t.equal(await customer.balance(), 100)
})

for (const headers of [{ 'Idempotency-Key': 'once' }, { Prefer: 'respond-async' }] as Record<string, string>[])
  t.test(`a run goes on without its client with ${Object.keys(headers)}`, async t => {
    const customer = await openAccount(service)
    const answer = stream(customer, request(), headers)
    const call = await nextCall()
    call.say('A ledger ')
    const { heard, leave } = await answer
    await heard('A ledger ')
    leave()
    call.end(said('A ledger remembers.'))
    await until('the run ends', () => hasEnded(customer))
    const run = await lastRun(customer)
    t.match(run, { status: 'completed', output: { text: 'A ledger remembers.' } })
    t.equal(run.finish_reason, undefined)
    if (!('Idempotency-Key' in headers)) return
    const replay = await stream(customer, request(), headers)
    t.equal(replay.response.headers.get('Idempotent-Replayed'), 'true')
    const events = await replay.events()
    t.equal(textOf(events), 'A ledger remembers.', 'a replay streams the stored text')
    t.equal(events.at(-1)?.data.run_id, run.run_id)
    const plain = await customer.run({ ...request(), stream: false }, headers)
    t.equal(plain.body.run_id, run.run_id, 'the form of the answer is not part of the request')
  })

t.test('a stream is a whole response, and its connection takes the next request', async t => {
  const customer = await openAccount(service)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  for (const isReused of [false, true]) {
    const headers = { Authorization: `Bearer ${customer.apiKey}`, 'Content-Type': 'application/json' }
    const sent = httpRequest(`${service.url}/v1/run`, { method: 'POST', agent, headers })
    sent.end(JSON.stringify(request()))
    const call = await nextCall()
    call.say('Größe: ')
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    call.say('😀.')
    call.end(said('Größe: 😀.'))
    const received = await text(response)
    t.match(received, /^event: delta\ndata: {"text":"Größe: "}\n\nevent: delta\ndata: {"text":"😀."}\n\nevent: run\n/)
    t.equal(sent.reusedSocket, isReused)
  }
})

t.test('HTTP/1.0 gets a stream without chunks', async t => {
  const customer = await openAccount(service)
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  const body = JSON.stringify(request())
  const head = ['POST /v1/run HTTP/1.0', `Authorization: Bearer ${customer.apiKey}`, 'Content-Type: application/json']
  socket.write([...head, `Content-Length: ${body.length}`, '', body].join('\r\n'))
  const call = await nextCall()
  call.say('Größe')
  call.end(said('Größe'))
  const [, received] = (await text(socket)).split('\r\n\r\n')
  t.match(received, /^event: delta\ndata: {"text":"Größe"}\n\nevent: run\nid: \d+\ndata: {.*}\n\n$/)
})

t.test('a slow reader gets all of a long text', async t => {
  const customer = await openAccount(service)
  const answer = stream(customer, request({ input: { prompt: 'x', max_output_tokens: 32_768 } }))
  const call = await nextCall()
  const words = Array.from({ length: 20_000 }, (_, index) => `word ${index}, `)
  call.say(words[0] as string)
  const { events } = await answer
  for (const word of words.slice(1)) call.say(word)
  call.end(said(words.join('')))
  const all = await events()
  t.equal(textOf(all), words.join(''))
  t.ok(all.length < 1000, `pieces are joined: ${all.length} events`)
})

/** A clock that a test moves on. Short timers fire by themselves too, and the service works as usual. */
const movedClock = (): Clock & { advance(ms: number): void; timers(delayMs: number): number } => {
  const timers = new Set<{ delayMs: number; dueMs: number; fire(): void }>()
  let nowMs = Date.now()
  return {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    timer: (delayMs, callback) => {
      const cancel = () => {
        timers.delete(waiting)
        short?.cancel()
      }
      const fire = () => {
        cancel()
        callback()
      }
      const waiting = { delayMs, dueMs: nowMs + delayMs, fire }
      const short = delayMs < 10_000 ? systemClock.timer(delayMs, fire) : undefined
      timers.add(waiting)
      return {
        cancel,
        unref() {
          short?.unref()
          return this
        },
      }
    },
    timers: delayMs => [...timers].filter(timer => timer.delayMs === delayMs).length,
    advance: ms => {
      nowMs += ms
      for (const { dueMs, fire } of [...timers]) if (dueMs <= nowMs) fire()
    },
  }
}

t.test('a comment is sent after each 15 s of silence, from the start of the run', async t => {
  const clock = movedClock()
  const slow = await startService(t, { providers: { sandbox: provider }, clock })
  const customer = await openAccount(slow)
  const answer = stream(customer, request(), {}, slow)
  const call = await nextCall()
  // Nothing else waits.
  await caughtUp(slow.core)
  clock.advance(15_000)
  const { response, heard, comments, events } = await answer
  t.equal(response.status, 200)
  await until('the first comment', () => comments() === 1)
  clock.advance(14_000)
  call.say('A ledger ')
  await heard('A ledger ')
  clock.advance(14_000)
  call.say('remembers.')
  await heard('remembers.')
  t.equal(comments(), 1, 'a piece ends the silence')
  clock.advance(15_000)
  await until('the second comment', () => comments() === 2)
  call.end(said('A ledger remembers.'))
  t.equal(textOf(await events()), 'A ledger remembers.')
})

t.test('so is one in the events of a run, until the client disconnects', async t => {
  const clock = movedClock()
  const slow = await startService(t, { providers: { sandbox: provider }, clock })
  const customer = await openAccount(slow)
  const { body: run } = await customer.run(request({ stream: false }), { Prefer: 'wait=0' })
  const call = await nextCall()
  const address = `${slow.url}/v1/runs/${run.run_id}/events`
  const left = new AbortController()
  const { body } = await fetch(address, {
    headers: { Authorization: `Bearer ${customer.apiKey}` },
    signal: left.signal,
  })
  const pieces = body?.pipeThrough(new TextDecoderStream()).getReader()
  let heard = ''
  const hear = async (pattern: RegExp) => {
    while (!pattern.test(heard)) heard += (await pieces?.read())?.value ?? t.fail(`ended after ${heard}`)
  }
  await hear(/^event: run\nid: \d+\ndata: {.*"processing".*}\n\n$/)
  t.equal(clock.timers(15_000), 1)
  clock.advance(15_000)
  await hear(/\n\n:\n\n$/)
  left.abort()
  await until('nobody waits for the next comment', () => clock.timers(15_000) === 0)
  call.end(said('Done.'))
})

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const usedBytes = () => {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Requests a stream on a connection of its own. Resolves to the response, of which nothing more is read. */
const unreadStream = async (customer: Customer, body: object): Promise<IncomingMessage> => {
  const sent = httpRequest(`${service.url}/v1/run`, {
    method: 'POST',
    agent: false,
    headers: { Authorization: `Bearer ${customer.apiKey}`, 'Content-Type': 'application/json' },
  })
  sent.end(JSON.stringify(body))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return response.pause()
}

t.test('a reader that stops costs little memory beside the text, and the run still ends', async t => {
  const MEGABYTE = 2 ** 20
  const responses: ServerResponse[] = []
  const see = (message: unknown) => responses.push((message as { response: ServerResponse }).response)
  subscribe('http.server.request.start', see)
  const customer = await openAccount(service)
  responses.length = 0
  const answer = unreadStream(customer, request({ input: { prompt: 'x', max_output_tokens: 32_768 } }))
  const call = await nextCall()
  call.say('!')
  const response = await answer
  unsubscribe('http.server.request.start', see)
  const [served] = responses as [ServerResponse]
  // All pieces are the same text, so what takes memory is only what is made of them.
  const piece = 'word '.repeat(13_000)
  const spoken = ['!']
  const say = async () => {
    call.say(piece)
    spoken.push(piece)
    await turn()
  }
  // The system holds some megabytes that the client has not read.
  while (!served.socket?.writableNeedDrain) await say()
  const beforeBytes = usedBytes()
  for (let count = 0; count < 64; count++) await say()
  const growthBytes = usedBytes() - beforeBytes
  t.ok(growthBytes < MEGABYTE, `${growthBytes} bytes more for ${64 * piece.length} bytes of text`)
  t.ok(served.writableLength < MEGABYTE, `${served.writableLength} bytes wait for the client`)
  const text = spoken.join('')
  call.end(said(text))
  await until('the run ends', () => hasEnded(customer))
  const { status, credits_charged, credits_released = 0 } = await lastRun(customer)
  t.equal(status, 'completed')
  t.equal(await customer.balance(), (100e6 - credits_charged * 1e6 + credits_released * 1e6) / 1e6)
  let received = ''
  for await (const bytes of response.setEncoding('utf8')) received += bytes
  const blocks = received.split('\n\n').filter(block => block !== '')
  t.match(blocks.at(-1), /^event: run\n/)
  const texts = blocks.slice(0, -1).map(block => JSON.parse(block.split('data: ')[1] as string).text as string)
  t.ok(texts.join('') === text, 'the client gets all of the text')
  t.ok(
    texts.every(({ length }) => length < MEGABYTE),
    'piece by piece',
  )
})
