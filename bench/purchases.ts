import { once } from 'node:events'
import type { Benchmark, Measurement } from './support/compare.ts'
import { measureCpu } from './support/cpu.ts'
import { withFolder } from './support/folder.ts'
import { startProcess, stopProcess } from './support/processes.ts'

/** Payments that are reported, or grants that are made, in a round. */
const COUNT = Number(process.env['BENCH_PURCHASES'] ?? 3_000)

export const purchases: Benchmark = {
  name: 'purchases',
  question: 'purchases fulfilled by the reports of Stripe over HTTP, 50 connections',
  baseline: 'durable grants by the service itself, 50 at a time',
  unit: 'purchases/s',
  goal: { atLeast: 0.8 },
  prepare: async () => {
    const { folder, discard } = await withFolder()
    const { child, ready } = await startProcess<{ url: string }>('purchases-process.js', {
      env: { DATA_DIR: folder, PORT: '0' },
      ...(process.env['BENCH_PROFILE'] && { profile: 'purchases' }),
    })
    const pids = [child.pid as number]
    const ask = async <Answer>(message: object): Promise<Answer> => {
      child.send(message)
      const [answer] = await once(child, 'message')
      return answer
    }
    return {
      baseline: () => measureCpu(pids, () => ask<Measurement & { operations: number }>({ grants: COUNT })),
      measured: async () => {
        const reports = await ask<object[]>({ reports: COUNT })
        return measureCpu(pids, () => sendReports(ready.url, reports))
      },
      close: async () => {
        await stopProcess(child)
        await discard()
      },
    }
  },
}

const sendReports = async (url: string, reports: object[]) => {
  const { child } = await startProcess('report-sender-process.js', { args: [url] })
  child.send(reports)
  const [result] = await once(child, 'message')
  await stopProcess(child)
  return result as { operations: number; value: number }
}
