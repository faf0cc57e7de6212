import { accountOf, type RawEvent } from '../../schemas/recorded.ts'
import { openScratchViews } from '../../src/boot/stores.ts'
import { GENESIS, link } from '../../src/engine/log/hash-chain.ts'
import { compareViews } from '../../src/engine/views/rebuild.ts'
import { BEFORE_FIRST, type EventLog } from '../../src/ports/event-log.ts'
import { openFolder } from './service.ts'

/** What the log alone says of an account. */
export interface Ledger {
  balanceMicros: number
  runs: Map<string, LedgerRun>
}

export interface LedgerRun {
  end: 'completed' | 'failed' | undefined
  errorCode: string | undefined
  /** What it cost, less what was refunded. */
  chargedMicros: number
  idempotencyKey: string | undefined
}

export interface Audit {
  ledgers: Map<string, Ledger>
  /** Everything that is not as it must be, in words. */
  faults: string[]
}

/**
 * Reads a whole log and checks what must hold of any: no revision is missing or double, no chain of hashes is broken, no
 * balance is negative or other than its grants, debits and refunds, and each run has one debit, one end at the most, and
 * a refund of all it cost where it failed.
 */
export const auditLog = async (log: EventLog): Promise<Audit> => {
  const faults: string[] = []
  const streams = new Map<string, { revision: number; hash: string }>()
  const ledgers = new Map<string, Ledger>()
  for await (const page of log.readAll(BEFORE_FIRST))
    for (const event of page) {
      const fault = (what: string) => faults.push(`${event.stream} ${event.revision} ${event.type}: ${what}`)
      const before = streams.get(event.stream) ?? { revision: -1, hash: GENESIS }
      const { hash } = event.metadata as { hash: string }
      if (event.revision !== before.revision + 1) fault(`follows ${before.revision}`)
      if (link(before.hash, event as RawEvent & { metadata: object }) !== hash) fault('breaks the chain')
      streams.set(event.stream, { revision: event.revision, hash })
      const accountId = accountOf(event)
      if (accountId) enter(event, ledgerOf(ledgers, accountId), fault)
    }
  for (const { runs } of ledgers.values())
    for (const [runId, { end, chargedMicros }] of runs)
      if (end === 'failed' && chargedMicros !== 0) faults.push(`${runId} failed and was not refunded`)
  return { ledgers, faults }
}

/**
 * Opens what a service left in a folder: the audit of its log, with the faults of its views beside those of the log.
 * Nobody else may have the folder open in this process. `environment` names stores that are elsewhere.
 */
export const auditFolder = async (folder: string, environment: Record<string, string> = {}): Promise<Audit> => {
  const core = await openFolder(folder, { environment })
  const { scratch, discard } = await openScratchViews()
  try {
    const { ledgers, faults } = await auditLog(core.log)
    const { changes } = await compareViews(core.log, core.views, scratch)
    return { ledgers, faults: [...faults, ...changes.map(({ address }) => `the views differ at ${address}`)] }
  } finally {
    await discard()
    await core.close()
  }
}

/** The runs of all accounts. */
export const allRuns = ({ ledgers }: Audit): Map<string, LedgerRun> =>
  new Map([...ledgers.values()].flatMap(ledger => [...ledger.runs]))

type Moves = { runId: string; amountMicros: number; balanceAfterMicros: number }

const enter = (event: RawEvent, ledger: Ledger, fault: (what: string) => void) => {
  const data = event.data as Moves
  const run = ledger.runs.get(data.runId)
  const move = (amountMicros: number) => {
    ledger.balanceMicros += amountMicros
    if (ledger.balanceMicros !== data.balanceAfterMicros) fault(`the balance is ${ledger.balanceMicros}`)
    if (ledger.balanceMicros < 0) fault('the balance is negative')
  }
  const finish = (end: 'completed' | 'failed') => {
    if (!run) return fault('the run has no debit')
    if (run.end) fault(`the run has already ${run.end}`)
    run.end = end
  }
  switch (event.type) {
    case 'CreditsGranted':
      return move(data.amountMicros)
    case 'CreditsDebited':
      if (run) fault('the run has a debit already')
      ledger.runs.set(data.runId, {
        end: undefined,
        errorCode: undefined,
        chargedMicros: data.amountMicros,
        idempotencyKey: undefined,
      })
      return move(-data.amountMicros)
    case 'CreditsRefunded':
      if (run?.end !== 'failed' || run.chargedMicros !== data.amountMicros) fault('is no refund of a failed run')
      if (run) run.chargedMicros -= data.amountMicros
      return move(data.amountMicros)
    case 'RunQueued':
      if (run) run.idempotencyKey = (event.data as { idempotency?: { key: string } }).idempotency?.key
      return
    case 'RunCompleted':
      return finish('completed')
    case 'RunFailed':
      if (run) run.errorCode = (event.data as { error: { code: string } }).error.code
      return finish('failed')
  }
}

const ledgerOf = (ledgers: Map<string, Ledger>, accountId: string): Ledger => {
  let ledger = ledgers.get(accountId)
  if (!ledger) {
    ledger = { balanceMicros: 0, runs: new Map() }
    ledgers.set(accountId, ledger)
  }
  return ledger
}
