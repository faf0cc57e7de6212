import { join } from 'node:path'
import { Redis } from 'ioredis'
import { openLmdbEventLog } from '../src/adapters/event-log/lmdb.ts'
import { createLogger } from '../src/adapters/logger/pino.ts'
import { openRedisViewStore } from '../src/adapters/view-store/redis.ts'
import type { Batch, StoredViews } from '../src/ports/view-store.ts'
import { authentic } from '../test/support/engine.ts'
import { startRedis } from '../test/support/redis-server.ts'
import { redisAt } from '../test/support/store-addresses.ts'
import { projectorOf } from '../test/support/views.ts'
import type { Benchmark } from './support/compare.ts'
import { fillLog } from './support/fill.ts'
import { withFolder } from './support/folder.ts'

const RUNS = 25_000
const ACCOUNTS = 100

/** As many commands as events in a page of the log. */
const PIPELINED = 1000

/**
 * The projector writes less than one row per event, because most events change a row that the same page writes anyway.
 * So the baseline sets one value per event, and in total as many bytes as the projector writes in rows, entries and
 * addresses.
 */
export const redisProjector: Benchmark = {
  name: 'redis-projector',
  question: 'events that the projector folds from the log into an empty Redis',
  baseline: 'as many raw SETs with the same total bytes, in pipelines of 1,000',
  unit: 'events/s',
  goal: { atLeast: 0.3 },
  prepare: async () => {
    const redis = await startRedis()
    const { folder, discard } = await withFolder()
    const log = openLmdbEventLog(join(folder, 'log'), error => {
      throw error
    })
    await fillLog(log, { runs: RUNS, accounts: ACCOUNTS })
    const events = (await log.head()) + 1
    const client = new Redis(redis.url)

    const replay = async (watch: (batch: Batch<string>) => void = () => undefined) => {
      await redis.command('FLUSHALL')
      const store = await openRedisViewStore({
        address: redisAt(redis.url),
        onWarning: error => {
          throw error
        },
      })
      const commit: StoredViews['commit'] = batch => {
        watch(batch)
        return store.commit(batch)
      }
      const projector = projectorOf(log, authentic({ ...store, commit }), createLogger('warn'))
      const startMs = performance.now()
      await projector.start()
      const rate = events / ((performance.now() - startMs) / 1000)
      await projector.stop()
      await store.close()
      return rate
    }

    let bytes = 0
    await replay(batch => {
      bytes += sizeOf(batch)
    })
    const value = 'v'.repeat(Math.round(bytes / events))

    const set = async () => {
      await redis.command('FLUSHALL')
      const startMs = performance.now()
      for (let first = 0; first < events; first += PIPELINED) {
        const pipeline = client.pipeline()
        for (let event = first; event < Math.min(first + PIPELINED, events); event++) pipeline.set(String(event), value)
        await pipeline.exec()
      }
      return events / ((performance.now() - startMs) / 1000)
    }

    return {
      baseline: set,
      measured: () => replay(),
      close: async () => {
        client.disconnect()
        await redis.stop()
        await log.close()
        await discard()
      },
    }
  },
}

const sizeOf = ({ rows, entries }: Batch<string>): number => {
  const texts = [
    ...rows.flatMap(({ view, key, row }) => [view, key, row]),
    ...entries.flatMap(({ view, index, place, key }) => [view, index, place, key]),
  ]
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text ?? ''), 0)
}
