import type { GrantKind, Payment } from '../../schemas/account-events.ts'
import type { Receipt } from '../../schemas/catalog.ts'
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

/** The receipt of a run whose tokens have a price of a credit for a thousand. */
export const tokenReceipt = (outputTokens: number): Receipt => ({
  ...{ catalogRevision: 0, model: 'gpt-6-1-terra', endpoint: 'gpt-6-1-terra-t2t' },
  lines: (['input', 'cached_input', 'output', 'thinking'] as const).map(tokens => ({
    ...{ kind: 'tokens' as const, tokens, perMillionMicros: 1_000_000_000 },
    count: tokens === 'output' ? outputTokens : 0,
  })),
  ...{ totalMicros: outputTokens * 1000, usdPerCreditMicros: 10_000 },
})

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
    /** The debit of the most tokens that a run can use. */
    reserve: ({ outputTokens = 10_000, run = 1, ...move }: Movement & { outputTokens?: number; run?: number } = {}) => {
      const receipt = tokenReceipt(outputTokens)
      write('CreditsDebited', -1, move, { amountMicros: receipt.totalMicros, runId: runId(run), receipt })
    },
    /** What a run with these tokens did not need of its debit. */
    release: ({
      micros = 9_000_000,
      outputTokens = 1000,
      run = 1,
      ...move
    }: RunMoved & { outputTokens?: number } = {}) => {
      const receipt = tokenReceipt(outputTokens)
      const { model, endpoint } = receipt
      const debit = { model, endpoint, keyId: keyId() }
      write('CreditsReleased', 1, move, { amountMicros: micros, runId: runId(run), receipt, debit })
    },
    refund: ({ micros = 10_000_000, run = 1, reason = 'why', ...move }: RunMoved = {}) =>
      write('CreditsRefunded', 1, move, { amountMicros: micros, runId: runId(run), reason }),
  }
}

type Data = { amountMicros: number } & Record<string, unknown>
