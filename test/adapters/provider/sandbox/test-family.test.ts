import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { systemClock } from '../../../../src/adapters/clock/system.ts'
import { createSandboxProvider } from '../../../../src/adapters/provider/sandbox/provider.ts'
import { sandbox } from '../../../../src/catalog/sandbox.ts'
import type { Job, ProviderOutcome, Submitted, Working } from '../../../../src/ports/provider.ts'
import { accountId, runId } from '../../../support/account-samples.ts'
import { submittedJob } from '../../../support/submitted-job.ts'
import { openFile } from '../../../support/vendors/arriving-file.ts'

let nowMs = 1_000_000
const open = () => {
  const provider = createSandboxProvider({
    clock: { ...systemClock, nowMs: () => nowMs },
    useInputMedia: () => Promise.reject(new Error('nothing is ever fetched')),
  })
  t.teardown(() => provider.close?.())
  return provider
}
const provider = open()
const { signal } = new AbortController()

let runs = 0
const job = (kind: 't2t' | 'i2v', input: Record<string, unknown> = {}): Job => ({
  runId: runId(++runs),
  accountId: accountId(),
  endpoint: `sandbox-${kind}`,
  input: { prompt: 'ping', image_url: 'none', delay_ms: 0, outcome: 'success', ...input },
  upstream: { model: 'sandbox', operation: '', parameters: {} },
  openFile,
})
const submitted = async (request: Job) => (await provider.submit(request, signal)) as Submitted
const poll = async (request: Job, at = provider): Promise<ProviderOutcome | Working | undefined> =>
  at.poll?.(submittedJob(request), signal)

const done = { kind: 'done', media: [], text: 'Sandbox heard: ping' }
const codes = ['model_not_found', 'content_rejected', 'provider_timeout', 'interrupted', 'invalid_input']

t.test('a sync run has the requested outcome', async t => {
  t.same(await provider.submit(job('t2t'), signal), done)
  for (const code of codes)
    t.match(await provider.submit(job('t2t', { outcome: code }), signal), { kind: 'failed', code, retryable: false })
  t.match(await provider.submit(job('t2t', { outcome: 'provider_error' }), signal), { kind: 'failed', retryable: true })
})

t.test('a crash before the answer leaves nothing behind', async t => {
  for (const kind of ['t2t', 'i2v'] as const) {
    const request = job(kind, { outcome: 'crash_before_answer' })
    await t.rejects(provider.submit(request, signal))
    await t.rejects(provider.submit(request, signal), 'also the second time')
  }
})

t.test('a crash after the answer loses it once', async t => {
  const sync = job('t2t', { outcome: 'crash_after_answer' })
  await t.rejects(provider.submit(sync, signal))
  t.same(await provider.submit(sync, signal), done)

  const asynchronous = job('i2v', { outcome: 'crash_after_answer', delay_ms: 1000 })
  await t.rejects(provider.submit(asynchronous, signal))
  nowMs += 600
  t.match(await submitted(asynchronous), { kind: 'submitted', pollAfterMs: 400 }, 'the job that was already started')
  nowMs += 400
  t.same(await poll(asynchronous), done)
})

t.test('a sync run is delayed, and can be aborted', async t => {
  const controller = new AbortController()
  const held = t.rejects(provider.submit(job('t2t', { delay_ms: 600_000 }), controller.signal), { name: 'AbortError' })
  controller.abort()
  await held
  const order: number[] = []
  const delays = [120, 1, 60].map(delay_ms =>
    provider.submit(job('t2t', { delay_ms }), signal).then(() => order.push(delay_ms)),
  )
  await Promise.all(delays)
  t.same(order, [1, 60, 120])
})

t.test('a text arrives word by word, and may break off or stall halfway', async t => {
  const stream = async (input: Record<string, unknown>, stop = signal) => {
    const words: string[] = []
    const request = { ...job('t2t', { prompt: 'one two', ...input }), onText: (word: string) => void words.push(word) }
    const outcome = await provider.submit(request, stop).catch((error: Error) => error)
    return { outcome, words }
  }
  const text = 'Sandbox heard: one two'
  const startMs = performance.now()
  t.match(await stream({ delay_ms: 80 }), {
    outcome: { kind: 'done', text },
    words: ['Sandbox ', 'heard: ', 'one ', 'two'],
  })
  t.ok(performance.now() - startMs > 75)
  const cut = await stream({ outcome: 'crash_after_answer' })
  t.ok(cut.outcome instanceof Error)
  t.same(cut.words, ['Sandbox ', 'heard: '])
  t.match(await stream({ outcome: 'provider_error' }), { outcome: { kind: 'failed', retryable: true }, words: [] })
  t.match(await stream({ outcome: 'crash_before_answer' }), { outcome: Error, words: [] })
  const hanging = stream({ outcome: 'hang' })
  t.equal(await Promise.race([hanging, delay(50, 'it hangs')]), 'it hangs')
  const stop = new AbortController()
  const slow = stream({ delay_ms: 60_000 }, stop.signal)
  stop.abort()
  t.match(await slow, { outcome: { name: 'AbortError' }, words: [] })
})

t.test('a job reports progress, then its outcome', async t => {
  const request = job('i2v', { delay_ms: 8_000 })
  t.match(await submitted(request), { kind: 'submitted', pollAfterMs: 8_000 })
  t.match(await poll(request), { kind: 'working', progress: 0 })
  nowMs += 6_000
  t.match(await poll(request), { kind: 'working', progress: 0.75, pollAfterMs: 2_000 })
  t.same(await submitted(request), { ...(await submitted(request)), pollAfterMs: 2_000 }, 'the same job')
  nowMs += 2_000
  t.same(await poll(request), done)
})

t.test('a job can end with each error code', async t => {
  for (const code of [...codes, 'provider_error']) {
    const request = job('i2v', { outcome: code })
    await submitted(request)
    t.match(await poll(request), { kind: 'failed', code, retryable: code === 'provider_error' })
  }
})

t.test('a hanging run never ends', async t => {
  const request = job('i2v', { outcome: 'hang' })
  await submitted(request)
  nowMs += 24 * 3_600_000
  t.match(await poll(request), { kind: 'working' })

  const sync = provider.submit(job('t2t', { outcome: 'hang' }), signal).then(() => 'answered')
  t.equal(await Promise.race([sync, new Promise(resolve => setTimeout(resolve, 50, 'silent'))]), 'silent')
})

t.test('a job that is lost in a restart starts again', async t => {
  const request = job('i2v', { delay_ms: 5_000 })
  await submitted(request)
  nowMs += 4_000
  const restarted = open()
  t.match(await poll(request, restarted), { kind: 'working', progress: 0 })
  nowMs += 5_000
  t.same(await poll(request, restarted), done)
})

t.test('a cancelled job is forgotten', async t => {
  const request = job('i2v', { delay_ms: 5_000 })
  await submitted(request)
  nowMs += 4_000
  await provider.cancel?.(submittedJob(request), signal)
  t.match(await poll(request), { kind: 'working', progress: 0 })
})

t.test('ten thousand concurrent jobs cost almost nothing', async t => {
  const jobs = Array.from({ length: 10_000 }, () => job('i2v', { delay_ms: 60_000 }))
  const before = process.getActiveResourcesInfo().length
  await Promise.all(jobs.map(submitted))
  // Another test file in this process may still close a connection.
  t.ok(process.getActiveResourcesInfo().length < before + 100, 'no timer for each')
  nowMs += 60_000
  const outcomes = await Promise.all(jobs.map(request => poll(request)))
  t.ok(outcomes.every(outcome => outcome?.kind === 'done'))
})

t.test('the schema offers exactly the existing outcomes', async t => {
  for (const endpoint of sandbox.endpoints) {
    const offered = endpoint.parametersSchema.properties['outcome']?.['enum']
    const others = ['success', 'crash_before_answer', 'crash_after_answer', 'hang', 'provider_error']
    t.same(new Set(offered as string[]), new Set([...others, ...codes]), endpoint.id)
  }
})
