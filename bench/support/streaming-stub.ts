import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { sharedMicros } from './shared-clock.ts'
import { TOKEN_END } from './stream-load.ts'

/** What the stub sends. A request has it as JSON in its last message. */
export interface Pace {
  tokens: number
  /** The time between two tokens of a stream, each of which then says when it was sent; 0 sends as fast as is read. */
  everyMs: number
}

/**
 * A vendor that streams chat completions, as a process: https://platform.openai.com/docs/api-reference/chat-streaming.
 * Each token is a write of its own. Knows no other requests, and makes what it sends in advance, to take little time.
 */
const chunk = (choices: object[], usage: object | null = null) =>
  `data: ${JSON.stringify({
    ...{ id: 'chatcmpl-CfT1mNqXcVh0PbkSgZ5yLw3uRd8Ea', object: 'chat.completion.chunk', created: 1_764_000_000 },
    ...{ model: 'gpt-6.1-terra', service_tier: 'default', system_fingerprint: 'fp_a1b2c3d4e5', choices, usage },
  })}\n\n`

const choice = (delta: object, finish_reason: string | null = null) => [
  { index: 0, delta, logprobs: null, finish_reason },
]

/** Bytes of a chunked body: writing them to the socket takes a third of the time of a response's `write`. */
const encoded = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

const STAMP = '0'.repeat(12)
const START = encoded(chunk(choice({ role: 'assistant', content: '', refusal: null })))
const FRAME = encoded(chunk(choice({ content: ` tok${TOKEN_END}` })))
const [BEFORE_STAMP = '', AFTER_STAMP = ''] = encoded(chunk(choice({ content: STAMP + TOKEN_END }))).split(STAMP)
const stampedFrame = () => BEFORE_STAMP + String(sharedMicros()).padStart(STAMP.length, '0') + AFTER_STAMP

const endOf = ({ tokens }: Pace) =>
  encoded(
    chunk(choice({}, 'stop')) +
      chunk([], { prompt_tokens: 9, completion_tokens: tokens, total_tokens: 9 + tokens }) +
      'data: [DONE]\n\n',
  )

class Stream {
  readonly #response: ServerResponse
  readonly #socket: Socket
  readonly #pace: Pace
  readonly #startMs = performance.now()
  #sent = 0

  constructor(response: ServerResponse, pace: Pace) {
    this.#response = response
    this.#socket = response.socket as Socket
    this.#pace = pace
    response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' }).flushHeaders()
    this.#socket.setNoDelay().write(START)
  }

  /** Sends the tokens that are due. False once the stream has ended. */
  send(): boolean {
    const { tokens, everyMs } = this.#pace
    if (this.#socket.destroyed) return false
    if (this.#socket.writableNeedDrain) return true
    const due = everyMs > 0 ? Math.floor((performance.now() - this.#startMs) / everyMs) : this.#sent + 1
    for (const upTo = Math.min(due, tokens); this.#sent < upTo; this.#sent++)
      this.#socket.write(everyMs > 0 ? stampedFrame() : FRAME, 'latin1')
    if (this.#sent < tokens) return true
    this.#socket.write(endOf(this.#pace))
    this.#response.end()
    return false
  }
}

const streams = new Set<Stream>()
let isSending = false

const sendAll = (isPaced: boolean) => {
  isSending = streams.size > 0
  if (!isSending) return
  for (const stream of streams) if (!stream.send()) streams.delete(stream)
  if (isPaced) setTimeout(sendAll, 1, isPaced)
  else setImmediate(sendAll, isPaced)
}

const server = createServer(async (request, response) => {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  const { messages } = JSON.parse(Buffer.concat(pieces).toString()) as { messages: { content: string }[] }
  const pace = JSON.parse(messages.at(-1)?.content as string) as Pace
  streams.add(new Stream(response, pace))
  if (!isSending) sendAll(pace.everyMs > 0)
})
server.keepAliveTimeout = 60_000
process.on('message', () => process.exit(0))
server.listen(0, '127.0.0.1', 1024, () =>
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }),
)
