import { join } from 'node:path'
import { open } from 'lmdb'
import { accountIn } from '../schemas/events.ts'
import { openLmdbEventLog } from '../src/adapters/event-log/lmdb.ts'
import { account } from '../src/domain/account/account.ts'
import type { AccountState } from '../src/domain/account/state.ts'
import { BEFORE_FIRST, type EventLog } from '../src/ports/event-log.ts'
import { eventCodec } from '../src/services/event-codec.ts'
import type { Benchmark } from './support/compare.ts'
import { fillLog } from './support/fill.ts'
import { withFolder } from './support/folder.ts'

const RUNS = 25_000
const ACCOUNTS = 100

/** Reads and checks every event through the port, and folds the accounts' states. */
const foldAll = async (log: EventLog): Promise<number> => {
  const states = new Map<string, AccountState>()
  let count = 0
  for await (const page of log.readAll(BEFORE_FIRST))
    for (const raw of page) {
      const event = eventCodec.decode(raw)
      if (accountIn(event.stream))
        states.set(event.stream, account.evolve(states.get(event.stream) ?? account.initial, event as never))
      count += 1
    }
  return count
}

export const replay: Benchmark = {
  name: 'replay',
  question: 'replay of the log: each event read, checked and folded',
  baseline: 'raw lmdb range scan of the same records, as bytes',
  unit: 'events/s',
  goal: { atLeast: 0.2 },
  prepare: async () => {
    const { folder, discard } = await withFolder()
    const log = openLmdbEventLog(join(folder, 'log'), error => {
      throw error
    })
    await fillLog(log, { runs: RUNS, accounts: ACCOUNTS })
    const raw = open({ path: join(folder, 'log'), overlappingSync: false, maxDbs: 16 }).openDB('entries', {
      encoding: 'binary',
    })
    const scan = async () => {
      let bytes = 0
      let count = 0
      for (const { value } of raw.getRange({})) {
        bytes += value.length
        count += 1
      }
      if (bytes === 0) throw new Error('nothing was read')
      return count
    }
    const rate = async (work: () => Promise<number>) => {
      const startMs = performance.now()
      const count = await work()
      return count / ((performance.now() - startMs) / 1000)
    }
    return {
      baseline: () => rate(scan),
      measured: () => rate(() => foldAll(log)),
      close: async () => {
        await log.close()
        await discard()
      },
    }
  },
}
