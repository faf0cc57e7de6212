import t from 'tap'
import type { LedgerList } from '../../schemas/api/ledger.ts'
import type { Quote, Run } from '../../schemas/api/run.ts'
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
  leave(): void
}

const stream = async (
  customer: Customer,
  body: object = request(),
  headers: Record<string, string> = {},
): Promise<Streamed> => {
  const leaving = new AbortController()
  const response = await fetch(`${service.url}/v1/run`, {
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
      return received
        .split('\n\n')
        .filter(block => block.startsWith('event:'))
        .map(block => {
          const fields = Object.fromEntries(block.split('\n').map(line => line.split(/: (.*)/s, 2)))
          return { name: fields.event, data: JSON.parse(fields.data) }
        })
    },
    heard: text => until(`the client hears ${text}`, () => received.includes(text)),
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
  // Credits for a million tokens: 120 of input and 600 of output. A usual answer has 1,000 tokens.
  t.ok(body.credits > 6.48 && body.credits < 6.5, `${body.credits}`)
  t.ok(Number(body.likely_credits) > 0.72 && Number(body.likely_credits) < 0.73, `${body.likely_credits}`)
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
