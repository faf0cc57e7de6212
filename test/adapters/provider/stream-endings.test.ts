import t, { type Test } from 'tap'
import type { Done, ProviderOutcome } from '../../../src/ports/provider.ts'
import { seededRandom, testSeed } from '../../support/seeded-random.ts'
import { ENDINGS as CASES, TEST_TIMEOUT_MS } from '../../support/test-length.ts'
import { type Dialect, dialects, type Form, type Script, sendEvents } from '../../support/vendors/streams.ts'
import { vendorJob } from '../../support/vendors/vendor-job.ts'
import { type Handler, reply } from '../../support/vendors/vendor-server.ts'

t.setTimeout(TEST_TIMEOUT_MS)

/** How a stream ends after some of its events. */
const ENDINGS = ['end', 'cut', 'error', 'garbage', 'hang'] as const

interface Case {
  script: Script
  form: Form
  ending: (typeof ENDINGS)[number]
  /** The events that arrive, and the status of an error. */
  count: number
  status: number
}

const ALPHABET = ['a', 'ü', '语', '😀', '\n', '"', '\\', ' ', 'data: ', '[DONE]', '\r\n', '\u2028', '\0']

const caseOf = (dialect: Dialect, random: () => number): Case => {
  const below = (count: number) => Math.floor(random() * count)
  const pick = <One>(from: readonly One[]) => from[below(from.length)] as One
  const text = Array.from({ length: below(40) }, () => pick(ALPHABET)).join('')
  // Cuts may halve characters.
  const cuts = Array.from({ length: below(8) }, () => below(text.length + 1)).sort((one, other) => one - other)
  const pieces = [0, ...cuts].map((cut, at) => text.slice(cut, cuts[at] ?? text.length)).filter(piece => piece !== '')
  const count = () => ({ input: pick([0, 7, 1200, 1e12, -1]), output: pick([0, 1, 300, 1e12, 0.5]) })
  const script: Script = {
    ...{ pieces, thinks: random() < 0.3, isCut: random() < 0.3 },
    ...{ counts: Array.from({ length: below(4) }, count), place: pick(['own', 'beside']) },
  }
  const length = dialect.events(script).length
  return {
    script,
    form: {
      lineEnd: pick(['\n', '\r\n']),
      comments: random() < 0.3,
      chunkBytes: random() < 0.05 ? 1 : pick([7, 17, 100, 100_000]),
    },
    ending: pick(ENDINGS),
    count: random() < 0.4 ? length : below(length + 1),
    status: pick([400, 429, 500]),
  }
}

/** Answers as the case says. Resolves `sent` when all events have left. */
const serve = (dialect: Dialect, given: Case, sent: () => void): Handler => {
  const { script, form, ending, count, status } = given
  return async (_, response) => {
    const body = dialect.error(status)
    const last = { error: JSON.stringify(body), garbage: '{"cut' }[ending as 'error']
    const events = dialect.events(script).slice(0, count)
    await sendEvents(response, last === undefined ? events : [...events, { lines: [`data: ${last}`] }], form)
    if (ending === 'cut') response.destroy()
    else if (ending !== 'hang') response.end()
    sent()
  }
}

const check = async (t: Test, dialect: Dialect, given: Case, ask: Awaited<ReturnType<typeof asking>>) => {
  const { script, ending, count, status } = given
  const expected = await ask.whole((_, response) => reply(response, 200, dialect.whole(script)))
  const events = dialect.events(script).slice(0, count)
  const shown = events.map(({ text = '' }) => text).join('')
  const end = events.reduce<string | undefined>((latest, each) => each.end ?? latest, undefined)
  const stop = new AbortController()
  // A client gives up some time after all has arrived.
  const handler = serve(dialect, given, () => ending === 'hang' && setTimeout(() => stop.abort(), 20))
  const { outcome, pieces } = await ask.stream(handler, stop.signal)
  const handed = pieces.join('')
  t.ok(pieces.every(piece => piece !== '' && piece.isWellFormed()) || !script.pieces.join('').isWellFormed())

  const isWhole = end !== undefined && (ending === 'end' || ending === 'garbage' || ending === 'cut')
  if (isWhole || (ending === 'error' && end === 'last')) {
    // What comes after the end of the text is usage, which may be lost with the connection.
    if (count === dialect.events(script).length) t.same(outcome, expected)
    else t.match(outcome, { ...expected, work: {} })
    t.equal(handed, (expected as Done).text ?? '')
    return
  }
  t.ok(script.pieces.join('').startsWith(handed), 'what was handed over is a part of the text')
  if (ending !== 'cut') t.ok(shown.length - handed.length <= 1, 'half a character at most is held back')
  if (ending === 'error' && handed === '') {
    // An event has no status of its own.
    const failure = await ask.whole((_, response) => reply(response, status, dialect.error(status)))
    t.same({ ...outcome, status }, failure)
  } else t.ok(outcome instanceof Error, `no outcome, but ${JSON.stringify(outcome)}`)
}

const asking = async (t: Test, dialect: Dialect) => {
  const vendor: { answer: Handler } = { answer: () => undefined }
  const { provider } = await dialect.start(t, (request, response) => vendor.answer(request, response))
  const { model, operation, parameters } = dialect
  const job = vendorJob({ model, operation, parameters })
  const never = new AbortController().signal
  const settled = (promise: Promise<unknown>) => promise.catch((error: Error) => error) as Promise<ProviderOutcome>
  return {
    whole: (answer: Handler) => {
      vendor.answer = answer
      return settled(provider.submit(job, never))
    },
    stream: async (answer: Handler, signal: AbortSignal) => {
      vendor.answer = answer
      const pieces: string[] = []
      const outcome = await settled(provider.submit({ ...job, onText: text => void pieces.push(text) }, signal))
      return { outcome, pieces }
    },
  }
}

t.test('however a stream arrives and ends, its outcome and its pieces fit', async t => {
  const seed = testSeed()
  t.comment(`seed ${seed}`)
  const random = seededRandom(seed)
  const vendors = await Promise.all(dialects.map(async dialect => ({ dialect, ask: await asking(t, dialect) })))
  for (let number = 0; number < CASES; number++) {
    const { dialect, ask } = vendors[number % vendors.length] as (typeof vendors)[number]
    const given = caseOf(dialect, random)
    await t.test(`case ${number}`, async t => {
      await check(t, dialect, given, ask)
      if (!t.passing()) t.comment(dialect.name, JSON.stringify(given))
    })
  }
})
