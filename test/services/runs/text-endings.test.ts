import { filter, firstValueFrom, Subject } from 'rxjs'
import t, { type Test } from 'tap'
import type { RunList } from '../../../schemas/api/run.ts'
import type { Binding } from '../../../schemas/binding.ts'
import { accountStream } from '../../../schemas/events.ts'
import { verifyLog } from '../../../src/audit/verify/verify.ts'
import type { Model } from '../../../src/catalog/families.ts'
import { claudeHaiku45 } from '../../../src/catalog/text/claude-haiku-4-5.ts'
import { gemini3Flash } from '../../../src/catalog/text/gemini-3-flash.ts'
import { gpt61Terra } from '../../../src/catalog/text/gpt-6-1-terra.ts'
import type { Bound } from '../../../src/services/providers/routes.ts'
import { endpoint, family, parameters, priceRule } from '../../support/catalog-samples.ts'
import { collect } from '../../support/collect.ts'
import { seededRandom, testSeed } from '../../support/seeded-random.ts'
import { openAccount, startService } from '../../support/service.ts'
import { ENDINGS as CASES, TEST_TIMEOUT_MS } from '../../support/test-length.ts'
import { offer } from '../../support/vendor-families.ts'
import { type Dialect, dialects } from '../../support/vendors/streams.ts'
import type { Handler } from '../../support/vendors/vendor-server.ts'
import { answerAs, isEndless, LONGEST_ANSWER, type TextCase, textCase } from './text-case.ts'
import { listen } from './text-client.ts'
import { completionIn, costIn, endIn, faultsOf, isComparable } from './text-rules.ts'

t.setTimeout(TEST_TIMEOUT_MS)

/** Cases at a time, each in an account of its own. A multiple of the number of vendors. */
const LANES = 24

/** More than the cases of a lane cost. */
const CREDITS = 1000

/** A circuit breaker opens after five failures in succession. */
const MAX_FAILURES = 4

/** A million tokens cost so many microcredits: one costs no whole microcredits. */
const RATES = { input: 123_456_789, cached_input: 12_345_678, output: 611_111_111, thinking: 611_111_111 }

/** A model of one lane, which has its own circuit breaker, and the same with a time limit that ends. */
const familiesOf = (lane: number) =>
  Object.entries({ talk: 60_000, brief: 400 }).map(([name, timeoutMs]) =>
    family(`${name}-${lane}`, { outputType: 'text' }, [
      endpoint('t2t', {
        ...{ timeoutMs, retry: { attempts: 1, backOffMs: 1 } },
        parametersSchema: parameters({
          max_output_tokens: { type: 'integer', minimum: 1, maximum: LONGEST_ANSWER, default: LONGEST_ANSWER },
        }),
        pricing: priceRule({ baseMicros: 0, tokens: RATES }),
      }),
    ]),
  )

/** The shipped bindings, with the endpoints and models of the lanes. */
const bindingsOf = (endpoint: string): Bound[] => {
  const [, lane] = /^(?:talk|brief)-(\d+)-t2t$/.exec(endpoint) ?? []
  if (lane === undefined) return []
  const dialect = dialectOf(Number(lane))
  const [binding] = SHIPPED[dialect.name]?.bindings ?? []
  return [{ ...(binding as Binding), endpoint, provider: nameOf(dialect), model: endpoint }]
}

const SHIPPED = { OpenAI: gpt61Terra, Anthropic: claudeHaiku45, Google: gemini3Flash } as Record<string, Model>

const dialectOf = (lane: number): Dialect => dialects[lane % dialects.length] as Dialect

/** Names of providers are in lower case. */
const nameOf = ({ name }: Dialect) => name.toLowerCase()

type Given = Awaited<ReturnType<typeof given>>

/** A service whose vendors answer each case as it says, and the accounts whose runs end. */
const given = async (t: Test) => {
  const cases = new Map<number, { answer: Handler; asked: () => void }>()
  const answer: Handler = (request, response) => {
    const [, number] = /case (\d+):/.exec(request.body.toString()) ?? []
    const found = cases.get(Number(number))
    found?.asked()
    found?.answer(request, response)
  }
  const start = async (dialect: Dialect) => [nameOf(dialect), (await dialect.start(t, answer)).provider] as const
  const providers = Object.fromEntries(await Promise.all(dialects.map(start)))
  const service = await startService(t, { providers, bindingsOf })
  await offer(service.core, ...Array.from({ length: LANES }, (_, lane) => familiesOf(lane)).flat())

  const ended = new Subject<string>()
  const stop = new AbortController()
  const follow = async () => {
    for await (const page of service.core.log.follow(await service.core.log.head(), stop.signal))
      for (const { type, stream } of page) if (type === 'RunCompleted' || type === 'RunFailed') ended.next(stream)
  }
  const following = follow()
  t.teardown(async () => {
    stop.abort()
    await following
  })
  return { service, cases, ended }
}

/** A client with an account of its own, whose cases come one after another. */
const openLane = async ({ service, cases, ended }: Given, dialect: Dialect, lane: number) => {
  const { log } = service.core
  const customer = await openAccount(service, { credits: CREDITS })
  const stream = accountStream(customer.accountId)
  let revision = 0
  const newEvents = async () => {
    const events = await collect(log.readStream(stream, revision))
    revision += events.length
    return events
  }
  const cancel = async () => {
    const [run] = (await customer.send<RunList>('/v1/runs?limit=1')).body.data
    await customer.post(`/v1/runs/${run?.run_id}/cancel`, {})
  }
  await newEvents()
  let costMicros = 0

  /** Lives through a case. Resolves to its faults, and how the run ended. */
  const live = async (one: TextCase) => {
    const { number, client, prompt } = one
    const asked = new Promise<void>(resolve => cases.set(number, { answer: answerAs(dialect, one), asked: resolve }))
    const end = firstValueFrom(ended.pipe(filter(each => each === stream)))
    const body = { model: `${isEndless(one) ? 'brief' : 'talk'}-${lane}`, input: { prompt } }
    const key: Record<string, string> = client.isIdempotent ? { 'Idempotency-Key': `case-${number}` } : {}
    const headers = { Authorization: `Bearer ${customer.apiKey}`, ...key }
    const heard = await listen(one, { url: `${customer.url}/v1/run`, headers, body, asked, cancel })
    await end
    const events = await newEvents()
    costMicros += costIn(events)
    const completed = completionIn(events)
    const faults = faultsOf(dialect, one, heard, events)
    if (client.isIdempotent) {
      const { body: repeated } = await customer.run(body, key)
      if (repeated.status !== (completed ? 'completed' : 'failed')) faults.push('a repetition is told another end')
      if (repeated.output?.text !== completed?.output.text) faults.push('a repetition is told another text')
    }
    if ((await newEvents()).length > 0) faults.push('a run goes on after its end')
    if (isComparable(dialect, one, events)) {
      const { body: run } = await customer.run(body)
      const others = await newEvents()
      costMicros += costIn(others)
      const buffered = { pieces: [run.output?.text ?? ''], run, hasGivenUp: false }
      faults.push(...faultsOf(dialect, one, buffered, others).map(fault => `buffered: ${fault}`))
      if (costIn(events) !== costIn(others)) faults.push('a stream costs other than a buffered text')
    }
    cases.delete(number)
    return { faults, heard, end: endIn(events) }
  }
  const balanceIsRight = async () => Math.round((await customer.balance()) * 1e6) === CREDITS * 1e6 - costMicros
  return { live, balanceIsRight }
}

t.test('however a text ends, it costs what the rule says of what was delivered', async t => {
  const seed = testSeed()
  t.comment(`seed ${seed}`)
  const world = await given(t)
  const faulty: unknown[] = []
  const ends = new Set<string>()

  const liveThrough = async (lane: number) => {
    const dialect = dialectOf(lane)
    const random = seededRandom(seed + lane)
    const { live, balanceIsRight } = await openLane(world, dialect, lane)
    let failures = 0
    for (let number = lane; number < CASES; number += LANES) {
      const one = textCase(dialect, number, random, failures === MAX_FAILURES)
      const { faults, heard, end } = await live(one)
      failures = end === 'whole' ? 0 : failures + 1
      ends.add(end)
      if (faults.length > 0) faulty.push({ faults, vendor: dialect.name, ...one, heard })
    }
    if (!(await balanceIsRight())) faulty.push(`the balance of lane ${lane}`)
  }
  await Promise.all(Array.from({ length: LANES }, (_, lane) => liveThrough(lane)))
  // Such a character would end the output of the runner.
  t.same(
    faulty.map(each => JSON.stringify(each).replaceAll('\u2028', '\\u2028')),
    [],
  )
  t.same([...ends].sort(), ['cut off', 'failed', 'whole'], 'all ends have occurred')
  t.same((await verifyLog(world.service.core.log, { isDense: true }))?.faults, [])
})
