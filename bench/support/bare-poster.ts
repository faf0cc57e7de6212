import { Agent } from 'undici'

/** The baseline of webhooks: posts a body of the same size, and nothing of ours. */
const [url = '', count = '0'] = process.argv.slice(2)
const { origin, pathname: path } = new URL(url)
const AT_A_TIME = 64
const agent = new Agent({ connections: AT_A_TIME })
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
await Promise.all(Array.from({ length: AT_A_TIME }, work))
