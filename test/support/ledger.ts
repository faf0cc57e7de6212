import { accountIn } from '../../schemas/events.ts'
import type { RawEvent } from '../../schemas/recorded.ts'
import { type Linkable, link } from '../../src/engine/log/hash-chain.ts'
import { compareViews } from '../../src/engine/views/rebuild.ts'
import { BEFORE_FIRST, type EventLog } from '../../src/ports/event-log.ts'
import { openFolder } from './service.ts'
import { rebuildOf } from './views.ts'

/** An account's state according to the log alone. */
export interface Ledger {
  balanceMicros: number
  runs: Map<string, LedgerRun>
}

export interface LedgerRun {
  end: 'completed' | 'failed' | undefined
  errorCode: string | undefined
  /** The price, less the release and refunds. */
  chargedMicros: number
  idempotencyKey: string | undefined
}

export interface Audit {
  ledgers: Map<string, Ledger>
  /** All violations, as text. */
  faults: string[]
}

/**
 * Reads a whole log and checks its invariants: no revision is missing or repeated, no hash chain is broken, no balance
 * is negative or differs from grants, debits, refunds and releases, and each run has one debit, at most one end, and a
 * full refund if it failed.
 */
export const auditLog = async (log: EventLog): Promise<Audit> => {
  const faults: string[] = []
  const streams = new Map<string, { revision: number; hash: string | undefined }>()
  const ledgers = new Map<string, Ledger>()
  for await (const page of log.readAll(BEFORE_FIRST))
    for (const event of page) {
      const fault = (what: string) => faults.push(`${event.stream} ${event.revision} ${event.type}: ${what}`)
      const before = streams.get(event.stream) ?? { revision: -1, hash: undefined }
      const { hash } = event.metadata as { hash: string }
      if (event.revision !== before.revision + 1) fault(`follows ${before.revision}`)
      if (link(before.hash, event as Linkable) !== hash) fault('breaks the chain')
      streams.set(event.stream, { revision: event.revision, hash })
      const accountId = accountIn(event.stream)
      if (accountId) enter(event, ledgerOf(ledgers, accountId), fault)
    }
  for (const { runs } of ledgers.values())
    for (const [runId, { end, chargedMicros }] of runs)
      if (end === 'failed' && chargedMicros !== 0) faults.push(`${runId} failed and was not refunded`)
  return { ledgers, faults }
}

/**
 * Audits the log and the views in a service's folder. The folder must not be open in this process. `environment` may
 * name other stores.
 */
export const auditFolder = async (folder: string, environment: Record<string, string> = {}): Promise<Audit> => {
  const core = await openFolder(folder, { environment })
  const { scratch, discard } = await core.openScratch()
  try {
    const { ledgers, faults } = await auditLog(core.log)
    const { changes } = await compareViews(rebuildOf(core.log, core.views), scratch)
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
    case 'CreditsWithdrawn':
    case 'CreditsExpired':
      return move(-data.amountMicros)
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
      if (!run?.end || run.chargedMicros < data.amountMicros) fault('is no refund of a run that has ended')
      if (run?.end === 'failed' && run.chargedMicros !== data.amountMicros) fault('is not the whole charge')
      if (run) run.chargedMicros -= data.amountMicros
      return move(data.amountMicros)
    case 'CreditsReleased':
      if (!run || run.end || run.chargedMicros < data.amountMicros) fault('is no release of a part of an open run')
      if (run) run.chargedMicros -= data.amountMicros
      return move(data.amountMicros)
    case 'RunQueued':
      return accept(event.data as Accepted, ledger, fault)
    case 'RunStarted':
      if ('input' in (event.data as object)) accept(event.data as Accepted, ledger, fault)
      return
    case 'RunCompleted':
      return finish('completed')
    case 'RunFailed':
      if (run) run.errorCode = (event.data as { error: { code: string } }).error.code
      return finish('failed')
  }
}

interface Accepted {
  runId: string
  livemode?: false
  idempotency?: { key: string }
}

/** A run that costs nothing is a test run, which has no debit. */
const accept = ({ runId, livemode, idempotency }: Accepted, { runs }: Ledger, fault: (what: string) => void) => {
  const debited = runs.get(runId)
  if ((debited === undefined) !== (livemode === false)) fault('is a test run with a debit, or a live run without one')
  const run = debited ?? { end: undefined, errorCode: undefined, chargedMicros: 0, idempotencyKey: undefined }
  runs.set(runId, { ...run, idempotencyKey: idempotency?.key })
}

const ledgerOf = (ledgers: Map<string, Ledger>, accountId: string): Ledger => {
  let ledger = ledgers.get(accountId)
  if (!ledger) {
    ledger = { balanceMicros: 0, runs: new Map() }
    ledgers.set(accountId, ledger)
  }
  return ledger
}
