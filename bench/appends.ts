import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { open } from 'lmdb'
import { openLmdbEventLog } from '../src/adapters/event-log/lmdb.ts'
import { type NewEvent, NO_STREAM } from '../src/ports/event-log.ts'
import type { Benchmark } from './support/compare.ts'
import { withFolder } from './support/folder.ts'
import { debited } from './support/samples.ts'

const CONCURRENCY = 256
const APPENDS = 20_000

/** Runs a task repeatedly and concurrently, and resolves to the rate per second. */
const rate = async (task: (worker: number, index: number) => Promise<unknown>): Promise<number> => {
  let next = 0
  const startMs = performance.now()
  const work = async (worker: number) => {
    while (next < APPENDS) await task(worker, next++)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, (_, worker) => work(worker)))
  return APPENDS / ((performance.now() - startMs) / 1000)
}

export const appends: Benchmark = {
  name: 'appends',
  question: 'durable appends of one event, 256 concurrent writers, each on its own stream',
  baseline: 'raw lmdb puts of the same bytes with the same durability',
  unit: 'appends/s',
  goal: { atLeast: 0.5 },
  prepare: async () => {
    const { folder, discard } = await withFolder()
    const raw = open<string, number>({ path: join(folder, 'raw'), encoding: 'string', overlappingSync: false })
    const log = openLmdbEventLog(join(folder, 'log'), error => {
      throw error
    })
    let key = 0
    const streams = Array.from({ length: CONCURRENCY }, () => ({
      name: `account-${randomUUID()}`,
      revision: NO_STREAM,
    }))
    const events = Array.from({ length: APPENDS }, (): NewEvent => ({ id: randomUUID(), ...debited() }))
    const texts = events.map(({ id, type, data, metadata }, index) =>
      JSON.stringify([id, streams[0]?.name, index, type, data, metadata]),
    )
    return {
      baseline: () => rate((_, index) => raw.put(key++, texts[index] as string)),
      measured: () =>
        rate(async (worker, index) => {
          const stream = streams[worker] as { name: string; revision: number }
          stream.revision = (await log.append(stream.name, [events[index] as NewEvent], stream.revision)).revision
        }),
      close: async () => {
        await raw.close()
        await log.close()
        await discard()
      },
    }
  },
}
