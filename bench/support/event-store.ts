import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { withFolder } from './folder.ts'

const STAND_IN = join(import.meta.dirname, '../../test/support/event-store/process.js')

export interface EventStore {
  /** Has a unique streamPrefix, so that no two measurements share a stream. */
  url: string
  stop(): Promise<void>
}

/** Uses the server in EVENT_STORE_TEST_URL, or starts the stand-in as a separate process on an empty folder. */
export const startEventStore = async (): Promise<EventStore> => {
  const configured = process.env['EVENT_STORE_TEST_URL']
  if (configured) return { url: withUniquePrefix(configured), stop: async () => undefined }
  const { folder, discard } = await withFolder()
  const profiling = process.env['BENCH_PROFILE'] ? ['--cpu-prof', '--cpu-prof-dir=bench/.profiles/event-store'] : []
  const child = spawn(process.execPath, [...profiling, STAND_IN, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  // Do not outlive a failed benchmark.
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
  return { url: withUniquePrefix(url), stop }
}

/** An address with several hosts is not a valid URL, so only the query is parsed. */
const withUniquePrefix = (url: string): string => {
  const [address, query] = url.split('?')
  const parameters = new URLSearchParams(query)
  parameters.set('streamPrefix', `${parameters.get('streamPrefix') ?? ''}bench-${randomUUID()}-`)
  return `${address}?${parameters}`
}
