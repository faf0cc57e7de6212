import type { GrantKind, Payment } from '../../schemas/account-events.ts'
import { accountStream } from '../../schemas/events.ts'
import type { RawEvent } from '../../schemas/recorded.ts'
import { accountId, digest, keyId, receipt, runId } from './account-samples.ts'

/** A movement of credits in millionths, at a time. */
interface Movement {
  account?: number
  micros?: number
  at?: string
}

type Moved = Movement & { kind?: GrantKind; reference?: string; reason?: string; payment?: Payment }

type RunMoved = Movement & { run?: number; model?: string; label?: string; reason?: string }

/** Writes the ledger events of numbered accounts, as they stand in a log but without true links. */
export const ledgerEvents = () => {
  const events: RawEvent[] = []
  const accounts = new Map<number, { revision: number; balanceMicros: number }>()

  const write = (
    type: string,
    sign: number,
    { account = 1, at = '2026-01-01T12:00:00.000Z' }: Movement,
    data: Data,
  ) => {
    const { revision, balanceMicros } = accounts.get(account) ?? { revision: 1, balanceMicros: 0 }
    const balanceAfterMicros = balanceMicros + sign * data.amountMicros
    accounts.set(account, { revision: revision + 1, balanceMicros: balanceAfterMicros })
    events.push({
      ...{ stream: accountStream(accountId(account)), revision, position: events.length, id: crypto.randomUUID() },
      ...{ type, data: { ...data, balanceAfterMicros } },
      metadata: { at, actor: { kind: 'key', keyId: keyId() }, hash: digest('a') },
    })
  }

  return {
    events,
    grant: ({
      micros = 100_000_000,
      kind = 'welcome',
      reference = 'r',
      reason = 'why',
      payment,
      ...move
    }: Moved = {}) =>
      write('CreditsGranted', 1, move, { amountMicros: micros, kind, reference, reason, ...(payment && { payment }) }),
    withdraw: ({ micros = 1, kind = 'correction', reference = 'w', reason = 'why', ...move }: Moved = {}) =>
      write('CreditsWithdrawn', -1, move, { amountMicros: micros, kind, reference, reason }),
    debit: ({ micros = 10_000_000, run = 1, model = 'nano-banana-2', label, ...move }: RunMoved = {}) =>
      write('CreditsDebited', -1, move, {
        ...{ amountMicros: micros, runId: runId(run) },
        receipt: { ...receipt(), model },
        ...(label !== undefined && { label }),
      }),
    refund: ({ micros = 10_000_000, run = 1, reason = 'why', ...move }: RunMoved = {}) =>
      write('CreditsRefunded', 1, move, { amountMicros: micros, runId: runId(run), reason }),
  }
}

type Data = { amountMicros: number } & Record<string, unknown>
