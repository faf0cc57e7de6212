import { Pool } from 'undici'

/** Posts signed reports over 50 connections, and tells how many were recorded in a second. */
const CONNECTIONS = 50

const [url = ''] = process.argv.slice(2)
const pool = new Pool(url, { connections: CONNECTIONS })

process.on('message', async (message: 'stop' | { body: string; signature: string }[]) => {
  if (message === 'stop') process.exit(0)
  const waiting = [...message]
  const startMs = performance.now()
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let report = waiting.pop(); report; report = waiting.pop()) {
        const headers = { 'Content-Type': 'application/json', 'Stripe-Signature': report.signature }
        const answer = await pool.request({ path: '/callbacks/stripe', method: 'POST', headers, body: report.body })
        await answer.body.dump()
        if (answer.statusCode !== 204) throw new Error(`a report was answered with ${answer.statusCode}`)
      }
    }),
  )
  const seconds = (performance.now() - startMs) / 1000
  process.send?.({ operations: message.length, value: message.length / seconds })
})
process.send?.('ready')
