import { callExample } from '../schemas/api/mcp.ts'
import { balanceLoad } from './balance.ts'
import type { Benchmark } from './support/compare.ts'
import { type Load, putLoad } from './support/load.ts'
import { startTollgate } from './support/servers.ts'

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
  goal: { atLeast: 0.4 },
  prepare: async () => {
    const tollgate = await startTollgate({ profile: 'mcp' })
    const { url } = tollgate
    return {
      baseline: () => putLoad(balanceLoad(tollgate)),
      measured: () => putLoad({ ...balanceLoad(tollgate), ...call, url: `${url}/mcp` }),
      close: () => tollgate.stop(),
    }
  },
}
