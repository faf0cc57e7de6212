import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readConfig } from '../src/boot/config.ts'
import { openCore } from '../src/boot/core.ts'
import { createApiKey } from '../src/services/accounts/api-keys.ts'
import { register } from '../src/services/accounts/registration.ts'
import type { Question } from './support/compare.ts'
import { EVENTS_PER_RUN, fillLog } from './support/fill.ts'
import { type Folder, withFolder } from './support/folder.ts'

const EVENTS = Number(process.env['BENCH_START_EVENTS'] ?? 1_000_000)

const MAIN = join(import.meta.dirname, '..', 'src', 'main.js')
const cause = { actor: { kind: 'operator' } } as const

/** A folder with an account, and as many events as it is told to hold, all of them in the views. */
const prepareFolder = async (runs: number): Promise<Folder & { key: string }> => {
  const made = await withFolder()
  const core = await openCore(readConfig({ DATA_DIR: made.folder, LOG_LEVEL: 'silent' }))
  const accountId = await register(core, { email: 'a@b.c', tester: false, welcomeMicros: 1 }, cause)
  const { apiKey } = await createApiKey(core.accounts, 'tg', { accountId, name: 'bench', cause })
  if (runs > 0) await fillLog(core.log, { runs, accounts: 1000 })
  await core.progress.passed(await core.log.head(), 600_000)
  await core.close()
  return { ...made, key: apiKey }
}

/** Milliseconds from the start of the process to its first answer about a balance. */
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

/** Below the ports that the system hands out for outgoing connections, so that nobody takes it in between. */
const freePort = async (): Promise<number> => {
  const server = createServer().listen(20_000 + Math.floor(Math.random() * 10_000), '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

export const startUp: Question = {
  name: 'start-up',
  question: `start-up to the first answer, with ${EVENTS.toLocaleString('en')} events in the log`,
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
