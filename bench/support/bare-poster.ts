import { Agent } from 'undici'

/** The baseline of webhooks: posts bodies of the same size with undici alone. */
const [url = '', count = '0'] = process.argv.slice(2)
const { origin, pathname: path } = new URL(url)
const CONCURRENCY = 64
const agent = new Agent({ connections: CONCURRENCY })
const headers = { 'content-type': 'application/json' }
const body = JSON.stringify({ type: 'run.completed', timestamp: new Date().toISOString(), data: 'a'.repeat(400) })

process.on('message', () => process.exit(0))
process.send?.({})
let sent = 0
const work = async () => {
  while (sent++ < Number(count)) {
    const answer = await agent.request({ origin, path, method: 'POST', headers, body })
    await answer.body.dump()
  }
}
await Promise.all(Array.from({ length: CONCURRENCY }, work))
