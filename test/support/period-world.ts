import { generateKeyPairSync } from 'node:crypto'
import type { Test } from 'tap'
import { PERIODS_STREAM } from '../../schemas/events.ts'
import type { AccountId } from '../../schemas/primitives.ts'
import { BEFORE_FIRST, type EventLog } from '../../src/ports/event-log.ts'
import { SealsReactor } from '../../src/reactors/upkeep/seals.ts'
import { register } from '../../src/services/accounts/registration.ts'
import { Periods } from '../../src/services/ledger/periods.ts'
import { parseSealKey } from '../../src/services/seals/seal-key.ts'
import { SealStream } from '../../src/services/seals/seal-stream.ts'
import { Sealer } from '../../src/services/seals/sealer.ts'
import { TreeStore } from '../../src/services/seals/tree-store.ts'
import { collect } from './collect.ts'
import { accountsOn, ambient, loginsOn, openLog, openViews } from './engine.ts'
import { ManualClock } from './manual-clock.ts'
import { unwrap } from './unwrap.ts'

export const operator = { kind: 'operator', name: 'Ada' } as const

const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

/** Neither limit is reached, so that the log is sealed only when somebody waits for a seal. */
const limits = { maxEvents: 1_000_000, maxAgeMs: 1e15 }

/** A clock that shows this time of the year 2026. */
export const clockAt = (text: string): ManualClock => new ManualClock(Date.parse(`2026-${text}:00.000Z`))

/** A log to which several processes write, each by a clock of its own; the embedded one by default. */
export const openPeriodWorld = async (t: Test, given?: EventLog) => {
  const log = given ?? (await openLog(t))
  const views = await openViews(t)
  return {
    log,
    all: () => collect(log.readAll(BEFORE_FIRST)),
    own: () => collect(log.readStream(PERIODS_STREAM, 0)),

    /** A process that seals. */
    startSealer: (clock: ManualClock) => {
      const parts = ambient(clock)
      const key = parseSealKey(pem, { isDevelopment: false })
      const seals = new SealStream({ log, ...parts })
      const sealer = new Sealer({ log, seals, trees: new TreeStore({ views, clock }), key, ...parts, ...limits })
      const reactor = new SealsReactor({ log, sealer, ...parts })
      reactor.start()
      t.teardown(() => reactor.stop())
      return reactor
    },

    /** A process that closes periods. It gives up waiting for a seal after a while. */
    periodsAt: (clock: ManualClock, sealWaitMs = 60_000) => new Periods({ log, ...ambient(clock), sealWaitMs }),

    open: async (clock: ManualClock, name: string): Promise<AccountId> => {
      const parts = { ...ambient(clock), accounts: accountsOn(log, clock), logins: loginsOn(log, clock) }
      const identity = { kind: 'email', address: `${name}@example.com` } as const
      const registration = { identity, tester: false, welcomeMicros: 1_000_000 }
      return unwrap(await register(parts, operator, registration)).accountId
    },

    grant: async (clock: ManualClock, account: AccountId, reference: string, credits = 1) => {
      const grant = { amountMicros: credits * 1_000_000, kind: 'courtesy', reference, reason: 'why' } as const
      const outcome = await accountsOn(log, clock).execute(operator, account, { type: 'GrantCredits', ...grant })
      if ('refuse' in outcome) throw new Error(JSON.stringify(outcome.refuse))
    },
  }
}
