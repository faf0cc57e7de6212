import type { Benchmark } from './support/compare.ts'
import { type Load, putLoad } from './support/load.ts'
import { type Server, startTollgate } from './support/servers.ts'

/** More than a page of them. */
const RUNS = 300

/** Reads the newest page of a list. */
const pages = ({ pid, url, keys }: Server, list: string): Load => ({
  pid,
  url: `${url}/v1/${list}?limit=100`,
  keys,
  method: 'GET',
  connections: 50,
  awake: true,
})

const fill = async ({ url, keys }: Server) => {
  const body = JSON.stringify({ model: 'nano-banana-2', input: { prompt: 'a lighthouse at dusk' } })
  const headers = { authorization: `Bearer ${keys[0]}`, 'content-type': 'application/json' }
  for (let run = 0; run < RUNS; run++) {
    const answer = await fetch(`${url}/v1/run`, { method: 'POST', headers, body })
    if (!answer.ok) throw new Error(`a run was answered with ${answer.status}: ${await answer.text()}`)
    await answer.body?.cancel()
  }
}

export const ledger: Benchmark = {
  name: 'ledger',
  question: 'GET /v1/ledger, pages of 100 lines, 50 connections',
  baseline: 'GET /v1/runs, pages of 100 runs',
  unit: 'pages/s',
  goal: { atLeast: 0.8 },
  prepare: async () => {
    const tollgate = await startTollgate({ profile: 'ledger' })
    await fill(tollgate)
    return {
      baseline: () => putLoad(pages(tollgate, 'runs')),
      measured: () => putLoad(pages(tollgate, 'ledger')),
      close: () => tollgate.stop(),
    }
  },
}
