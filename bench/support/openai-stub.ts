import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server that answers every chat completion at once, as a process: https://platform.openai.com/docs/api-reference/chat */
const completion = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_764_000_000,
  model: 'gpt-6.1-terra',
  choices: [
    {
      index: 0,
      finish_reason: 'stop',
      logprobs: null,
      message: { role: 'assistant', content: 'A lighthouse stands at dusk.', refusal: null },
    },
  ],
  usage: { prompt_tokens: 9, completion_tokens: 7, total_tokens: 16 },
})
const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(completion) }

const server = createServer((request, response) => {
  request.resume().once('end', () => response.writeHead(200, headers).end(completion))
})
// Longer than any pause of a benchmark, so that no client meets a connection that is being closed.
server.keepAliveTimeout = 60_000
process.on('message', () => process.exit(0))
server.listen(0, '127.0.0.1', () =>
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }),
)
