import type { Clock } from '../ports/clock.ts'
import type { LoadInputMedia, UseInputMedia } from '../ports/input-media.ts'
import type { RunSlots } from './run-slots.ts'
import { Slots } from './slots.ts'
import { adaptToHost } from './slow-hosts.ts'

/** Files in memory at a time, of quick runs and of those that take minutes. Each may have 50 MB. */
const QUICK_SOURCES = 8
const LONG_SOURCES = 4

interface Parts {
  load: LoadInputMedia
  slots: RunSlots
  clock: Clock
}

/** Loads the files behind the inputs of runs, few at a time. A run holds no slot of its provider meanwhile. */
export const createInputSources = ({ load, slots, clock }: Parts): UseInputMedia => {
  const quick = new Slots({ each: QUICK_SOURCES, total: QUICK_SOURCES })
  const long = new Slots({ each: LONG_SOURCES, total: LONG_SOURCES })

  return async ({ url, runId, accountId, isLong }, signal, use) => {
    const host = hostOf(url)
    const sources = isLong ? long : quick
    await sources.acquire(host, accountId, signal)
    try {
      const loading = () => adaptToHost({ slots: sources, clock }, host, () => load(url, signal))
      return await use(await slots.without(runId, signal, loading))
    } finally {
      sources.free(host, accountId)
    }
  }
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : '')
