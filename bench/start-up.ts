import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openCore } from '../src/boot/core.ts'
import { readConfig } from '../src/boot/read-config.ts'
import { unwrap } from '../test/support/unwrap.ts'
import type { Benchmark } from './support/compare.ts'
import { EVENTS_PER_RUN, fillLog } from './support/fill.ts'
import { type Folder, withFolder } from './support/folder.ts'

const EVENTS = Number(process.env['BENCH_START_EVENTS'] ?? 1_000_000)

const MAIN = join(import.meta.dirname, '..', 'src', 'main.js')
const caller = { kind: 'operator', name: 'bench' } as const

/** Creates a folder with an account and projected events. */
const prepareFolder = async (runs: number): Promise<Folder & { key: string }> => {
  const created = await withFolder()
  const core = await openCore(readConfig({ DATA_DIR: created.folder, LOG_LEVEL: 'silent' }))
  const { accounts } = core.services
  const opening = { email: 'a@b.c', tester: false, welcomeMicros: 1, key: { name: 'bench' } }
  const { apiKey = '' } = unwrap(await accounts.open(caller, opening))
  if (runs > 0) await fillLog(core.log, { runs, accounts: 1000 })
  await core.progress.passed(await core.log.head(), 600_000)
  await core.close()
  return { ...created, key: apiKey }
}

/** Milliseconds from the start of the process to its first balance response. */
const start = async ({ folder, key }: { folder: string; key: string }): Promise<number> => {
  const port = await freePort()
  const startMs = performance.now()
  const child = spawn(process.execPath, [MAIN], {
    env: { ...process.env, DATA_DIR: folder, PORT: String(port) },
    stdio: 'ignore',
  })
  while (true) {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/balance`, {
      headers: { authorization: `Bearer ${key}` },
    }).catch(() => undefined)
    if (answer?.ok) break
    await delay(2)
  }
  const tookMs = performance.now() - startMs
  child.kill('SIGTERM')
  await once(child, 'exit')
  return tookMs
}

/** Below the range of ephemeral ports, so that no outgoing connection takes the port in between. */
const freePort = async (): Promise<number> => {
  const server = createServer().listen(20_000 + Math.floor(Math.random() * 10_000), '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

export const startUp: Benchmark = {
  name: 'start-up',
  question: `start-up to the first response, with ${EVENTS.toLocaleString('en')} events in the log`,
  baseline: 'an empty log',
  unit: 'ms',
  goal: { atMost: 2 },
  prepare: async () => {
    const empty = await prepareFolder(0)
    const full = await prepareFolder(EVENTS / EVENTS_PER_RUN)
    return {
      baseline: () => start(empty),
      measured: () => start(full),
      close: async () => {
        await empty.discard()
        await full.discard()
      },
    }
  },
}
