import type { Receipt } from '../../schemas/catalog.ts'
import { accountStream, loginStream } from '../../schemas/events.ts'
import type { AccountId, RunId } from '../../schemas/primitives.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { systemRandom } from '../../src/adapters/random/system.ts'
import { account } from '../../src/domain/account/account.ts'
import type { AccountCommand, QueueRun } from '../../src/domain/account/commands.ts'
import { loginOf } from '../../src/domain/login/identity.ts'
import { login } from '../../src/domain/login/login.ts'
import { unfolded } from '../../src/engine/streams/snapshots.ts'
import { Streams } from '../../src/engine/streams/stream.ts'
import { type EventLog, type NewEvent, NO_STREAM } from '../../src/ports/event-log.ts'
import { eventCodec } from '../../src/services/event-codec.ts'
import { newAccountId, newRunId } from '../../src/services/ids.ts'
import { input, receipt as unlisted } from './samples.ts'

/** Events per run, from the debit to the completion. */
export const EVENTS_PER_RUN = 4

/** Runs per append. */
const BATCH = 100

const cause = { actor: { kind: 'operator' } } as const

export interface Filling {
  runs: number
  accounts: number
  webhookUrl?: string
  /** The price of each run; by default, one that no catalog lists. */
  receipt?: Receipt
}

/** Fills a log with finished runs over several accounts, as the service would write them. */
export const fillLog = async (
  log: EventLog,
  { runs, accounts, webhookUrl, receipt = unlisted }: Filling,
): Promise<void> => {
  const parts = { codec: eventCodec, log, clock: systemClock, random: systemRandom }
  const streams = new Streams({ decider: account, ...parts })
  const logins = new Streams({ decider: login, ...parts })
  const at = new Date().toISOString()
  for (let index = 0; index < accounts; index++) {
    const accountId = newAccountId(systemRandom)
    const stream = accountStream(accountId)
    let folded = unfolded(account.initial)
    const open = opening(accountId, index)
    const ofLogin = loginStream(loginOf(open.identity))
    const linked = logins.extend(
      ofLogin,
      unfolded(login.initial),
      { type: 'LoginLinked', data: { accountId } },
      at,
      cause,
    )
    await log.append(ofLogin, [linked.event], NO_STREAM)
    let batch: NewEvent[] = []
    const apply = (command: AccountCommand) => {
      const decision = account.decide(command, folded.state, 0)
      if ('refuse' in decision) throw new Error(decision.refuse.code)
      for (const event of decision.accept) {
        const extended = streams.extend(stream, folded, event, at, cause)
        batch.push(extended.event)
        folded = extended.folded
      }
    }
    let revision = NO_STREAM
    const flush = async () => {
      revision = (await log.append(stream, batch, revision)).revision
      batch = []
    }
    apply(open)
    for (let run = 0; run < runs / accounts; run++) {
      const runId = newRunId(systemRandom)
      apply(queue(runId, receipt, webhookUrl))
      apply({ type: 'CompleteRun', runId, output: { artifacts: [], text: 'done' } })
      if (run % BATCH === 0) await flush()
    }
    await flush()
  }
}

export const opening = (accountId: AccountId, index: number) =>
  ({
    type: 'OpenAccount',
    accountId,
    identity: { kind: 'email', address: `a${index}@b.c` },
    tester: false,
    welcomeMicros: 10 ** 15,
  }) as const

export const queue = (runId: RunId, receipt: Receipt, webhookUrl?: string): QueueRun => ({
  type: 'QueueRun',
  run: {
    runId,
    model: 'nano-banana-2',
    endpoint: 'nano-banana-2-t2i',
    mode: 'sync',
    timeoutMs: 120_000,
    input,
    ...(webhookUrl !== undefined && { webhookUrl }),
  },
  receipt,
  startAt: { provider: 'sandbox', model: 'sandbox' },
})
