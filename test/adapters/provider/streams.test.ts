import t, { type Test } from 'tap'
import type { Done, Job, ProviderOutcome } from '../../../src/ports/provider.ts'
import { until } from '../../support/until.ts'
import {
  answerLike,
  bytesOf,
  type Dialect,
  dialects,
  type Form,
  type Script,
  sendEvents,
} from '../../support/vendors/streams.ts'
import { vendorJob } from '../../support/vendors/vendor-job.ts'
import { type Handler, reply } from '../../support/vendors/vendor-server.ts'

const never = new AbortController().signal

/** A vendor whose handler a test may change, and its adapter. */
const open = async (t: Test, dialect: Dialect, answer: Handler) => {
  const vendor = { answer }
  const { provider, server } = await dialect.start(t, (request, response) => vendor.answer(request, response))
  const { model, operation, parameters } = dialect
  const job = vendorJob({ model, operation, parameters })
  const submit = (onText?: Job['onText'], signal = never) =>
    provider.submit({ ...job, ...(onText && { onText }) }, signal) as Promise<ProviderOutcome>
  return {
    vendor,
    server,
    whole: () => submit(),
    /** The outcome of a stream, or its rejection, with the pieces that were handed over. */
    stream: async (signal?: AbortSignal, onText = (_: string) => {}) => {
      const pieces: string[] = []
      const hand = (text: string) => {
        pieces.push(text)
        onText(text)
      }
      const outcome = await submit(hand, signal).catch((error: Error) => error)
      return { outcome, pieces }
    },
  }
}

/** The events of tool calls without end. */
const callEvents: Record<string, () => Generator<string>> = {
  *OpenAI() {
    const delta = { tool_calls: [{ index: 0, id: 'call_1', function: { name: 'f', arguments: LONG } }] }
    for (;;) yield JSON.stringify({ choices: [{ index: 0, delta }] })
  },
  *Anthropic() {
    const begun = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }
    yield JSON.stringify({ type: 'content_block_start', index: 1, content_block: begun })
    const delta = { type: 'input_json_delta', partial_json: LONG }
    for (;;) yield JSON.stringify({ type: 'content_block_delta', index: 1, delta })
  },
  *Google() {
    const parts = [{ functionCall: { name: 'f', args: { a: LONG } } }]
    for (;;) yield JSON.stringify({ candidates: [{ content: { parts } }] })
  },
}

const LONG = 'x'.repeat(100_000)

const hello: Script = { pieces: ['Hel', 'lo, ', 'wörld 😀!'], counts: [{ input: 12, output: 5 }] }

for (const dialect of dialects) {
  const { name } = dialect
  t.test(`${name}: a stream has the outcome of a whole answer`, async t => {
    const counts = [1, 3, 9].map(output => ({ input: 12, output }))
    const cases: [string, Script, Form?][] = [
      ['as documented', hello],
      ['after thoughts', { ...hello, thinks: true }],
      ['cut at the limit', { ...hello, isCut: true }],
      ['usage beside the end', { ...hello, place: 'beside' }],
      ['no usage', { ...hello, counts: [] }],
      ['usage twice', { ...hello, counts: [...hello.counts, ...hello.counts] }],
      ['usage that grows', { ...hello, counts }],
      ['usage that grows, with the last beside the end', { ...hello, counts, place: 'beside' }],
      ['no tokens', { ...hello, counts: [{ input: 0, output: 0 }] }],
      ['absurdly many tokens', { ...hello, counts: [{ input: 1e15, output: 1e300 }] }],
      ['fewer than none', { ...hello, counts: [{ input: -5, output: -1 }] }],
      ['byte by byte', { ...hello, thinks: true }, { chunkBytes: 1 }],
      ['all at once', hello, { chunkBytes: 100_000 }],
      ['lines that end in CRLF', hello, { lineEnd: '\r\n', chunkBytes: 1 }],
      ['lines that end in CR', hello, { lineEnd: '\r', chunkBytes: 7 }],
      ['comments', hello, { comments: true, chunkBytes: 3 }],
      ['half a character in each event', { ...hello, pieces: ['a\ud83d', '\ude00b\ud83d', '\ude00'] }],
      ['no text', { ...hello, pieces: [] }],
      ['no text before the limit', { ...hello, pieces: [], isCut: true }],
    ]
    for (const [title, script, form] of cases)
      await t.test(title, async t => {
        const { whole, stream, server } = await open(t, dialect, answerLike(dialect, script, form))
        const { outcome, pieces } = await stream()
        t.same(outcome, await whole())
        t.equal(pieces.join(''), (outcome as Done).text ?? '')
        t.ok(pieces.every(piece => piece.isWellFormed() && piece !== ''))
        t.equal((outcome as Done).finish, script.isCut && script.pieces.length > 0 ? 'length' : undefined)
        const [{ path, body } = { path: '', body: '' }] = server.requests
        t.equal(path, dialect.streamed.path)
        t.match(JSON.parse(body.toString()), dialect.streamed.body)
      })
  })

  t.test(`${name}: pieces are handed over as they arrive`, async t => {
    const events = dialect.events(hello)
    const first = events.findIndex(({ text }) => text !== undefined) + 1
    let read = () => {}
    const wasRead = new Promise<void>(resolve => {
      read = resolve
    })
    const { stream } = await open(t, dialect, async (_, response) => {
      await sendEvents(response, events.slice(0, first))
      await wasRead
      await sendEvents(response, events.slice(first))
      response.end()
    })
    t.match(await stream(never, read), { outcome: { kind: 'done' }, pieces: hello.pieces })
  })

  t.test(`${name}: JSON in spite of the request is one piece`, async t => {
    const { stream, whole } = await open(t, dialect, (_, response) => reply(response, 200, dialect.whole(hello)))
    t.same(await stream(), { outcome: await whole(), pieces: [hello.pieces.join('')] })
  })

  t.test(`${name}: a stream that goes on after its last event ends all the same`, async t => {
    if (name === 'Google') return t.pass('there is no last event')
    const { stream } = await open(t, dialect, (_, response) => sendEvents(response, dialect.events(hello)))
    t.match(await stream(), { outcome: { kind: 'done', text: hello.pieces.join('') }, pieces: hello.pieces })
  })

  t.test(`${name}: without the last event, and its empty line, a stream may end`, async t => {
    const events = dialect.events(hello).filter(({ end }) => end !== 'last')
    const { stream, whole, vendor } = await open(t, dialect, answerLike(dialect, hello))
    const expected = await whole()
    vendor.answer = (_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(bytesOf(events).subarray(0, -2))
    }
    t.same(await stream(), { outcome: expected, pieces: hello.pieces })
  })

  t.test(`${name}: errors before the first piece are those of a whole answer`, async t => {
    for (const status of [400, 401, 429, 500, ...(name === 'Anthropic' ? [504, 529] : [503])]) {
      const body = dialect.error(status)
      const { stream, whole, vendor } = await open(t, dialect, (_, response) => reply(response, status, body))
      const expected = await whole().catch(error => error)
      t.same(await stream(), { outcome: expected, pieces: [] }, `status ${status}`)
      // An event has no status of its own.
      const { status: _, ...failure } = expected
      const told = expected instanceof Error ? expected : failure
      const events = dialect.events({ ...hello, thinks: true })
      const before = events.slice(
        0,
        events.findIndex(({ text }) => text !== undefined),
      )
      for (const sent of [[], before]) {
        vendor.answer = async (_, response) => {
          await sendEvents(response, [...sent, { lines: ['event: error', `data: ${JSON.stringify(body)}`] }])
          response.end()
        }
        t.same(await stream(), { outcome: told, pieces: [] }, `an event like ${status} after ${sent.length} others`)
      }
    }
  })

  t.test(`${name}: redirects, compression and nonsense are refused`, async t => {
    const cases: [string, Handler, RegExp][] = [
      ['a redirect', (_, response) => response.writeHead(307, { Location: '/' }).end(), /answered with 307$/],
      [
        'compression',
        (_, response) =>
          response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Content-Encoding': 'gzip' }).end('x'),
        /compressed with gzip/,
      ],
      [
        'no JSON',
        (_, response) => response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end('data: {"secret\n\n'),
        /^an event of the answer is not JSON$/,
      ],
      ['a page', (_, response) => reply(response, 200, '<html>secret</html>'), /^the answer of \w+ is not JSON$/],
      [
        'an event without end',
        (_, response) => {
          response.on('error', () => undefined).writeHead(200, { 'Content-Type': 'text/event-stream' })
          response.write('data: "')
          const more = () => {
            while (!response.destroyed && response.write('x'.repeat(10_000)));
          }
          response.on('drain', more)
          more()
        },
        /more than 4194304 bytes/,
      ],
      [
        'an event that takes long to parse',
        (_, response) => {
          response.writeHead(200, { 'Content-Type': 'text/event-stream' })
          response.end(`data: ${'['.repeat(300_000)}\n\n`)
        },
        /more than \d+ values/,
      ],
      ['nothing', (_, response) => response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(), /too early/],
    ]
    for (const [title, answer, message] of cases) {
      const { stream } = await open(t, dialect, answer)
      const { outcome, pieces } = await stream()
      t.match(outcome, { message }, title)
      t.ok(outcome instanceof Error)
      t.same(pieces, [])
    }
  })

  t.test(`${name}: counts of only the input are no report`, async t => {
    if (name !== 'Anthropic') return t.pass('they come with the output')
    const lines = dialect.events(hello).map(each => ({
      ...each,
      lines: each.lines.map(line => line.replace(/"usage":\{"output_tokens".*?\}/, '"usage":{"output_tokens":null}')),
    }))
    const { stream } = await open(t, dialect, async (_, response) => {
      await sendEvents(response, lines)
      response.end()
    })
    const { outcome } = await stream()
    t.match(outcome, { kind: 'done', text: hello.pieces.join('') })
    t.same((outcome as Done).work?.units, {}, 'the first token is not the whole answer')
  })

  t.test(`${name}: a text without end is refused`, async t => {
    const piece = dialect.events({ ...hello, pieces: ['x'.repeat(100_000)] }).filter(({ text }) => text)
    const { stream } = await open(t, dialect, async (_, response) => {
      while (!response.destroyed) await sendEvents(response, piece)
    })
    const { outcome, pieces } = await stream()
    t.match(outcome, { message: /more than \d+ bytes/ })
    t.ok(pieces.length > 10 && pieces.length < 100, `${pieces.length} pieces`)
  })

  t.test(`${name}: tool calls without end are refused`, async t => {
    let sentBytes = 0
    const { stream } = await open(t, dialect, async (_, response) => {
      for (const event of callEvents[name]?.() ?? []) {
        if (response.destroyed) return
        sentBytes += event.length
        await sendEvents(response, [{ lines: [`data: ${event}`] }])
      }
    })
    const { outcome } = await stream()
    t.match(outcome, { message: /more than \d+ bytes/ })
    t.ok(sentBytes > 4 * 2 ** 20 && sentBytes < 10 * 2 ** 20, `${sentBytes} bytes`)
  })

  t.test(`${name}: a stream that stalls ends with the caller's signal`, async t => {
    for (const count of [0, 1]) {
      const events = dialect.events(hello)
      const shown = events.slice(0, events.findIndex(({ text }) => text !== undefined) + count)
      let [hasArrived, isClosed] = [false, false]
      const { stream } = await open(t, dialect, async (_, response) => {
        hasArrived = true
        response.on('close', () => {
          isClosed = true
        })
        await sendEvents(response, shown)
      })
      const stop = new AbortController()
      const ended = stream(stop.signal, () => stop.abort())
      if (count === 0) await until('the request has arrived', () => hasArrived).then(() => stop.abort())
      const { outcome, pieces } = await ended
      t.ok(outcome instanceof Error)
      t.same(pieces, hello.pieces.slice(0, count))
      await until('the connection is closed', () => isClosed)
    }
  })
}

t.test('OpenAI: more tool calls than a conversation holds are refused', async t => {
  const [openAi] = dialects as [Dialect]
  const calls = Array.from({ length: 201 }, (_, index) => ({ index, id: `call_${index}`, function: { name: 'f' } }))
  const lines = (count: number) => [
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: calls.slice(0, count) } }] })}`,
    '',
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] })}`,
  ]
  const outcomeOf = async (count: number) => {
    const { stream } = await open(t, openAi, async (_, response) => {
      await sendEvents(response, [{ lines: lines(count) }])
      response.end()
    })
    return (await stream()).outcome
  }
  t.equal(((await outcomeOf(200)) as Done).toolCalls?.length, 200)
  t.match(await outcomeOf(201), { message: /more than 200 tool calls/ })
})
