import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { withFolder } from './folder.ts'

const STAND_IN = join(import.meta.dirname, '../../test/support/event-store/process.js')

export interface EventStore {
  /** With a streamPrefix of its own, so that no two measurements share a stream. */
  url: string
  stop(): Promise<void>
}

/** The server that EVENT_STORE_TEST_URL names, or else the stand-in as a process of its own on an empty folder. */
export const startEventStore = async (): Promise<EventStore> => {
  const named = process.env['EVENT_STORE_TEST_URL']
  if (named) return { url: withOwnPrefix(named), stop: async () => undefined }
  const { folder, discard } = await withFolder()
  const profiling = process.env['BENCH_PROFILE'] ? ['--cpu-prof', '--cpu-prof-dir=bench/.profiles/event-store'] : []
  const child = spawn(process.execPath, [...profiling, STAND_IN, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  // A benchmark that fails leaves no server behind.
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = once(child, 'exit')
  const listening = once(createInterface(child.stdout), 'line').then(([line]) => JSON.parse(line).url)
  const failed = ended.then(([code]) => Promise.reject(new Error(`the stand-in for EventStoreDB ended with ${code}`)))
  failed.catch(() => undefined)
  const url = await Promise.race([listening, failed])
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    process.off('exit', kill)
    await discard()
  }
  return { url: withOwnPrefix(url), stop }
}

/** The address of several hosts is no URL, so only what follows the question mark is read. */
const withOwnPrefix = (url: string): string => {
  const [address, query] = url.split('?')
  const parameters = new URLSearchParams(query)
  parameters.set('streamPrefix', `${parameters.get('streamPrefix') ?? ''}bench-${randomUUID()}-`)
  return `${address}?${parameters}`
}
