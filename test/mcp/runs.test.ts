import t from 'tap'
import type { Run } from '../../schemas/api/run.ts'
import { Reads } from '../../src/engine/views/reads.ts'
import { type RowWait, Watch } from '../../src/engine/views/watch.ts'
import { Unavailable } from '../../src/ports/faults.ts'
import { RunReads } from '../../src/services/runs/run-reads.ts'
import { sandbox, withoutInput } from '../support/client.ts'
import { auditLog } from '../support/ledger.ts'
import { type Customer, openAccount, startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import type { Fault } from '../support/vendor.ts'
import { order, syncOrder } from '../support/vendor-families.ts'
import { startVendorService } from '../support/vendor-service.ts'
import { call, connect, refusal, request, revisions } from './support.ts'

interface Progress {
  progress: number
  message?: string | undefined
}

const { vendor, service } = await startVendorService(t)
const sandboxes = await startService(t)

const held: Fault[] = [{ step: 'polled', act: 'hold' }]

const find = async (customer: Customer, runId: string) => (await customer.send<Run>(`/v1/runs/${runId}`)).body

/** Waits for the only run of an account. */
const onlyRun = (customer: Customer): Promise<Run> =>
  until('the run is listed', async () => (await customer.send<{ data: Run[] }>('/v1/runs')).body.data[0])

/** A promise that the test resolves with `happen`. */
const moment = () => {
  let happen = () => {}
  const happened = new Promise<void>(resolve => {
    happen = resolve
  })
  return { happen, happened }
}

for (const revision of revisions) {
  t.test(`${revision}: a slow run reports progress at once and every two seconds`, async t => {
    const client = await connect(t, await openAccount(sandboxes, { tester: true }), revision)
    const updates: Progress[] = []
    const { body } = await call<Run>(client, 'run_model', sandbox({ delay_ms: 4500 }), {
      onprogress: progress => updates.push(progress),
    })
    t.match(body, { status: 'completed', output: { text: 'Sandbox heard: hello' } })
    t.match(updates[0], { progress: 0, total: 100, message: 'processing' })
    t.ok(updates.length > 2)
    const texts = updates.slice(0, -1).flatMap(({ message }) => (message === 'processing' ? [] : [message]))
    t.ok(texts.length > 0 && 'Sandbox heard: hello'.startsWith(texts.join('')), 'the text as it arrives')
    t.match(updates.at(-1), { progress: 100, message: 'completed' })
    const steps = updates.map(({ progress }) => progress)
    t.same(
      steps,
      [...new Set(steps)].sort((one, other) => one - other),
    )
  })

  t.test(`${revision}: an async run reports the progress of its provider`, async t => {
    const client = await connect(t, await openAccount(service), revision)
    const updates: Progress[] = []
    const { body } = await call<Run>(client, 'run_model', order({ workMs: 1000 }), {
      onprogress: progress => updates.push(progress),
    })
    t.match(body, { status: 'completed', endpoint: 'vendor-t2i' })
    const shares = updates.flatMap(({ message }) => /^processing, (\d+) %$/.exec(message ?? '')?.[1] ?? [])
    t.ok(shares.length > 1)
    t.same(
      shares,
      shares.toSorted((one, other) => Number(one) - Number(other)),
    )
    const steps = updates.map(({ progress }) => progress)
    t.same(
      steps,
      [...new Set(steps)].sort((one, other) => one - other),
    )
    t.equal(updates.at(-1)?.message, 'completed')
    for (const step of steps) t.match(String(step), /^\d+(\.\d{1,2})?$/, 'progress has at most two decimals')
  })

  t.test(`${revision}: a call without a progress token gets no progress`, async t => {
    const customer = await openAccount(service)
    const { headers, message } = request(revision, 'tools/call', { name: 'run_model', arguments: order() })
    const answer = await fetch(`${customer.url}/mcp`, {
      method: 'POST',
      headers: { ...headers, Authorization: `Bearer ${customer.apiKey}` },
      body: JSON.stringify(message),
    })
    t.notMatch(await answer.text(), 'notifications/progress')
  })

  t.test(`${revision}: a failed run is a result and refunded`, async t => {
    const customer = await openAccount(service)
    const client = await connect(t, customer, revision)
    for (const request of [order, syncOrder]) {
      const { body, notes } = await call<Run>(client, 'run_model', request({ faults: [{ step: 'asked', act: 422 }] }))
      t.match(body, { status: 'failed', credits_refunded: 1, error: { code: 'content_rejected' } })
      t.same(notes, [])
    }
    t.equal(await customer.balance(), 100)
  })

  t.test(`${revision}: a run still open after 45 seconds is returned as it is`, async t => {
    const timeUp = new AbortController()
    const { timeout } = AbortSignal
    t.intercept(AbortSignal, 'timeout', {
      value: (ms: number) => (ms === 45_000 ? timeUp.signal : timeout.call(AbortSignal, ms)),
    })
    const customer = await openAccount(service)
    const client = await connect(t, customer, revision)
    const answer = call<Run>(client, 'run_model', order({ faults: held }), { onprogress: () => undefined })
    const { run_id } = await onlyRun(customer)
    await until('the poll is held', () => vendor.tally(run_id)?.held.polled)
    timeUp.abort()
    const { body, notes, links } = await answer
    t.match(body, { run_id, status: 'processing', credits_charged: 1 })
    t.match(notes, [new RegExp(`get_run with run_id ${run_id}`)])
    t.same(links, [])
    t.match((await call<Run>(client, 'get_run', { run_id })).notes, notes)
    vendor.release()
    await until('the run has ended', async () => (await find(customer, run_id)).status !== 'processing')
    t.match(await call<Run>(client, 'get_run', { run_id }), { body: { status: 'completed' }, notes: [] })
  })

  t.test(`${revision}: a call without progress waits just as long`, async t => {
    const waitedMs: number[] = []
    const { whenEnded } = RunReads.prototype
    t.intercept(RunReads.prototype, 'whenEnded', {
      value(this: RunReads, ...args: Parameters<RunReads['whenEnded']>) {
        waitedMs.push(args[1])
        return whenEnded.apply(this, args)
      },
    })
    const client = await connect(t, await openAccount(service), revision)
    t.match(await call<Run>(client, 'run_model', order()), { body: { status: 'completed' }, notes: [] })
    t.ok(waitedMs.length > 0 && waitedMs.every(ms => ms > 30_000 && ms <= 45_000), String(waitedMs))
  })

  t.test(`${revision}: an accepted run is returned even if the views are unavailable`, async t => {
    const customer = await openAccount(service)
    const client = await connect(t, customer, revision)
    const away = t.intercept(Reads.prototype, 'getOwn', {
      value: () => Promise.reject(new Unavailable('the views are unavailable')),
    })
    const { body, notes } = await call<Run>(client, 'run_model', order({ workMs: 3_600_000 }))
    t.match(body, { status: 'queued', credits_charged: 1 })
    t.match(notes, [/get_run/])
    t.equal((await refusal(client, 'get_run', { run_id: body.run_id })).code, 'unavailable')
    // A run that starts at once is answered from its own events.
    t.match((await call<Run>(client, 'run_model', syncOrder())).body, { status: 'completed' })
    away.restore()
    await call(client, 'cancel_run', { run_id: body.run_id })
  })

  t.test(`${revision}: disconnecting ends the wait but not the run`, async t => {
    const waits: RowWait[] = []
    const { begin } = Watch.prototype
    const waitBegan = moment()
    t.intercept(Watch.prototype, 'begin', {
      value(this: Watch, ...args: Parameters<Watch['begin']>) {
        const wait = begin.apply(this, args)
        waits.push(wait)
        waitBegan.happen()
        return wait
      },
    })
    const customer = await openAccount(service)
    const hangUp = new AbortController()
    const { headers, message } = request(revision, 'tools/call', {
      name: 'run_model',
      arguments: order({ faults: held }),
      _meta: { progressToken: 1 },
    })
    const answer = await fetch(`${customer.url}/mcp`, {
      method: 'POST',
      headers: { ...headers, Authorization: `Bearer ${customer.apiKey}` },
      body: JSON.stringify(message),
      signal: hangUp.signal,
    })
    await answer.body?.getReader().read()
    await waitBegan.happened
    const { run_id } = await onlyRun(customer)
    await until('the poll is held', () => vendor.tally(run_id)?.held.polled)
    hangUp.abort()
    // The run is held, so only the disconnect can end the last wait.
    t.equal(await waits.at(-1)?.changed, false)
    t.equal((await find(customer, run_id)).status, 'processing')
    vendor.release()
    await until('the run has ended', async () => (await find(customer, run_id)).status !== 'processing')
    t.equal((await find(customer, run_id)).status, 'completed')
    t.equal(await customer.balance(), 99)
  })

  t.test(`${revision}: stopping the service returns the run as it is`, async t => {
    const { vendor, service } = await startVendorService(t)
    const customer = await openAccount(service)
    const client = await connect(t, customer, revision)
    const processing = moment()
    const answer = call<Run>(client, 'run_model', order({ faults: held }), { onprogress: processing.happen })
    await processing.happened
    const { run_id } = await onlyRun(customer)
    await until('the poll is held', () => vendor.tally(run_id)?.held.polled)
    const stopped = service.stop()
    const { body, notes } = await answer
    t.match(body, { run_id, status: 'processing' })
    t.match(notes, [/get_run/])
    await stopped
  })

  t.test(`${revision}: tools and HTTP share idempotency keys, and each is charged once`, async t => {
    const customer = await openAccount(sandboxes, { tester: true })
    const client = await connect(t, customer, revision)
    const runRequest = { ...sandbox({ delay_ms: 300 }), metadata: { order: 7 } }
    for (const key of ['first-here', 'first-there', 'at-once']) {
      const here = () => call<Run>(client, 'run_model', { ...runRequest, idempotency_key: key })
      const there = () => customer.run(runRequest, { 'Idempotency-Key': key })
      if (key === 'first-here') {
        const { body, notes } = await here()
        const reply = await there()
        t.same(withoutInput(reply.body), body)
        t.equal(reply.headers.get('Idempotent-Replayed'), 'true')
        t.same(notes, [])
      } else if (key === 'first-there') {
        const reply = await there()
        const { body, notes } = await here()
        t.same(body, withoutInput(reply.body))
        t.match(notes, [/charged once/])
      } else {
        const runs = await Promise.all([here(), there(), here(), there()])
        t.equal(new Set(runs.map(({ body }) => body.run_id)).size, 1)
      }
      const other = { ...runRequest, metadata: { order: 8 } }
      t.equal((await refusal(client, 'run_model', { ...other, idempotency_key: key })).code, 'idempotency_mismatch')
      t.equal((await customer.run(other, { 'Idempotency-Key': key })).body.error.code, 'idempotency_mismatch')
    }
    t.equal(await customer.balance(), 97)
    t.same((await auditLog(sandboxes.core.log)).faults, [])
  })

  t.test(`${revision}: a run can be cancelled`, async t => {
    const customer = await openAccount(service)
    const client = await connect(t, customer, revision)
    const { body } = await customer.run(order({ workMs: 3_600_000 }))
    const { run_id } = body
    await until('the job is polled', () => vendor.tally(run_id)?.polls)
    const cancelled = await call<Run>(client, 'cancel_run', { run_id })
    t.match(cancelled, { body: { status: 'failed', credits_refunded: 1, error: { code: 'cancelled' } }, notes: [] })
    t.same(cancelled.body, withoutInput(await find(customer, run_id)))
    t.equal(await customer.balance(), 100)
    t.equal((await refusal(client, 'cancel_run', { run_id })).code, 'run_ended')
  })
}
