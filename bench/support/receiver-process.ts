import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

let arrived = 0
let expected = Number.POSITIVE_INFINITY
let firstMs = 0
const server = createServer((request, response) => {
  request.resume()
  response.writeHead(204).end()
  if (arrived === 0) firstMs = performance.now()
  arrived += 1
  if (arrived === expected) process.send?.({ rate: (arrived - 1) / ((performance.now() - firstMs) / 1000) })
})
process.on('message', (message: 'stop' | { count: number }) => {
  if (message === 'stop') process.exit(0)
  expected = message.count
  arrived = 0
})
server.listen(0, '127.0.0.1', () =>
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }),
)
