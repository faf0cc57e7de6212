import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import pino from 'pino'
import type { RawEvent } from '../schemas/recorded.ts'
import { systemClock } from '../src/adapters/clock/system.ts'
import { openLmdbEventLog } from '../src/adapters/event-log/lmdb.ts'
import { systemRandom } from '../src/adapters/random/system.ts'
import { openLmdbViewStore } from '../src/adapters/view-store/lmdb.ts'
import { parseSealKey } from '../src/services/seals/seal-key.ts'
import { SealStream } from '../src/services/seals/seal-stream.ts'
import { Sealer } from '../src/services/seals/sealer.ts'
import { TreeStore } from '../src/services/seals/tree-store.ts'
import type { Benchmark, Measurement } from './support/compare.ts'
import { withFolder } from './support/folder.ts'

const EVENTS_PER_SEAL = 10_000

/** The accounts that the events of a measured seal are about. */
const BUSY = 1000

const MANY = Number(process.env['BENCH_SEALED_ACCOUNTS'] ?? 1_000_000)

export const sealing: Benchmark = {
  name: 'sealing',
  question: `sealing ${EVENTS_PER_SEAL} events of ${BUSY} accounts, among ${MANY} accounts`,
  baseline: 'the same among these accounts alone',
  unit: 'ms',
  goal: { atMost: 3 },
  prepare: async () => {
    const [few, many] = [await sealedLog(BUSY), await sealedLog(MANY)]
    return {
      baseline: few.seal,
      measured: many.seal,
      close: async () => {
        await few.close()
        await many.close()
      },
    }
  },
}

/** A sealer that has sealed one event of each account, and goes on with events of the first of them. */
const sealedLog = async (accounts: number) => {
  const { folder, discard } = await withFolder()
  const log = openLmdbEventLog(join(folder, 'log'), error => {
    throw error
  })
  const views = openLmdbViewStore(join(folder, 'views'))
  const parts = { log, clock: systemClock, random: systemRandom, logger: pino({ level: 'silent' }) }
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const sealer = new Sealer({
    ...parts,
    seals: new SealStream(parts),
    trees: new TreeStore({ views, clock: systemClock }),
    key: parseSealKey(pem, { isDevelopment: false }),
    maxEvents: EVENTS_PER_SEAL,
    maxAgeMs: Number.POSITIVE_INFINITY,
  })
  await sealer.restart()
  let position = 0
  // The sealer reads no more of an event than these facts.
  const eventOf = (account: number, revision: number) =>
    ({
      ...{ stream: `account-${account}`, revision, position: position++ },
      metadata: { at: '2026-11-01T00:00:00.000Z', hash: randomBytes(32).toString('hex') },
    }) as RawEvent
  for (let first = 0; first < accounts; first += EVENTS_PER_SEAL) {
    const count = Math.min(EVENTS_PER_SEAL, accounts - first)
    sealer.take(Array.from({ length: count }, (_, index) => eventOf(first + index, 0)))
    await sealer.sealWhatIsDue()
  }
  let revision = 1
  const seal = async (): Promise<Measurement> => {
    const events = Array.from({ length: EVENTS_PER_SEAL }, (_, index) =>
      eventOf(index % BUSY, revision + Math.floor(index / BUSY)),
    )
    revision += EVENTS_PER_SEAL / BUSY
    const [startMs, before] = [performance.now(), process.cpuUsage()]
    sealer.take(events)
    await sealer.sealWhatIsDue()
    const { user, system } = process.cpuUsage(before)
    return { value: performance.now() - startMs, cpuMicros: { all: (user + system) / EVENTS_PER_SEAL } }
  }
  const close = async () => {
    await views.close()
    await log.close()
    await discard()
  }
  return { seal, close }
}
