import { callExample } from '../schemas/api/mcp.ts'
import type { Benchmark } from './support/compare.ts'
import { type Load, putLoad } from './support/load.ts'
import { startTollgate } from './support/servers.ts'

const common = { connections: 50, seconds: 4, awake: true }

/** An agent's request for its balance. */
const call: Pick<Load, 'method' | 'body' | 'headers'> = {
  method: 'POST',
  body: callExample,
  headers: {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'get_balance',
  },
}

export const mcp: Benchmark = {
  name: 'mcp',
  question: 'get_balance over POST /mcp, 50 connections',
  baseline: 'GET /v1/balance',
  unit: 'requests/s',
  goal: { atLeast: 0.25 },
  prepare: async () => {
    const tollgate = await startTollgate({ profile: 'mcp' })
    const { url, keys } = tollgate
    return {
      baseline: () => putLoad({ ...common, url: `${url}/v1/balance`, keys, method: 'GET' }),
      measured: () => putLoad({ ...common, ...call, url: `${url}/mcp`, keys }),
      close: () => tollgate.stop(),
    }
  },
}
