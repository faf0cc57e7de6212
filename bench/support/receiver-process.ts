import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

let arrived = 0
let expected = { count: Number.POSITIVE_INFINITY, warmUp: Number.POSITIVE_INFINITY }
let warmMs = 0
const server = createServer((request, response) => {
  request.resume()
  response.writeHead(204).end()
  arrived += 1
  const { count, warmUp } = expected
  if (arrived === warmUp) {
    warmMs = performance.now()
    process.send?.('warm')
  }
  if (arrived === count) process.send?.({ rate: (count - warmUp) / ((performance.now() - warmMs) / 1000) })
})
process.on('message', (message: 'stop' | typeof expected) => {
  if (message === 'stop') process.exit(0)
  expected = message
  arrived = 0
})
server.listen(0, '127.0.0.1', () =>
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }),
)
