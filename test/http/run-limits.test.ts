import t from 'tap'
import { BEFORE_FIRST } from '../../src/ports/event-log.ts'
import type { Provider } from '../../src/ports/provider.ts'
import { collect } from '../support/collect.ts'
import { type Customer, instantProvider, openAccount, startService } from '../support/service.ts'

const provider: Provider = {
  ...instantProvider,
  submit: async ({ input }) => {
    if (input['prompt'] === 'good') return { kind: 'done', media: [], text: 'done' }
    return { kind: 'failed', code: 'content_rejected', message: 'The prompt was rejected.' }
  },
}

const service = await startService(t, { providers: { sandbox: provider } })
const { log } = service.core

const request = (prompt: string) => ({ model: 'gpt-6-1-terra', input: { prompt } })

/** Sends runs that fail until one is refused. The limit is reached unless they take 5 s each. */
const failUntilRefused = async (customer: Customer) => {
  for (let sent = 1; sent < 500; sent++) {
    const reply = await customer.run(request('bad'))
    if (reply.status !== 200) return { sent, reply }
  }
  throw new Error('no run was refused')
}

t.test('an account whose runs keep failing has to wait', async t => {
  const customer = await openAccount(service)
  const other = await openAccount(service)
  const earlier = { 'Idempotency-Key': 'earlier' }
  const { body: run } = await customer.run(request('good'), earlier)
  const balance = await customer.balance()

  const { sent, reply } = await failUntilRefused(customer)
  t.ok(sent > 60)
  t.equal(reply.status, 429)
  const { code, message } = reply.body.error as unknown as { code: string; message: string }
  t.equal(code, 'rate_limited')
  const seconds = Number(reply.headers.get('Retry-After'))
  t.ok(seconds >= 1 && seconds <= 6, `it waits ${seconds} s`)
  t.match(message, `try again in ${seconds} second`)

  const events = await collect(log.readAll(BEFORE_FIRST))
  t.equal((await customer.run(request('good'), { 'Idempotency-Key': 'later' })).status, 429)
  t.equal((await collect(log.readAll(BEFORE_FIRST))).length, events.length, 'a refusal is no event')
  t.equal(await customer.balance(), balance, 'a refusal costs nothing')

  const repeated = await customer.run(request('good'), earlier)
  t.equal(repeated.status, 200)
  t.equal(repeated.body.run_id, run.run_id)
  t.equal(repeated.headers.get('Idempotent-Replayed'), 'true')
  t.equal((await customer.post('/v1/run?dry_run=true', request('good'))).status, 200)
  t.equal((await other.run(request('good'))).status, 200)
})
