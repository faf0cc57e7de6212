import { type AcceptedRun, isAcceptance } from '../../../schemas/account-events.ts'
import { accountStream } from '../../../schemas/events.ts'
import type { RunId } from '../../../schemas/primitives.ts'
import type { RunRow, WatchTask } from '../../../schemas/views.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { Damaged, Unavailable } from '../../ports/faults.ts'
import { withinTime } from '../../time/timers.ts'
import type { AccountCaller } from '../caller.ts'
import { eventCodec } from '../event-codec.ts'
import { seenBy } from '../policies/redaction.ts'
import type { Page, WaitingClient } from '../views/newest-first.ts'

type Input = Record<string, unknown>

export interface RunWithInput {
  row: RunRow
  input: Input | undefined
}

/**
 * How long to wait for an input, which is one read of the log. Everything else about a run is known without the log.
 */
const MAX_WAIT_MS = 500

/** Characters of the inputs of a page. A hundred of the largest have 25 million. */
const MAX_PAGE_CHARACTERS = 4_000_000

interface Dependencies {
  log: Pick<EventLog, 'readEvent'>
  clock: Clock
}

/** The inputs of runs as their callers see them, read from the events that accepted the runs. */
export class ShownInputs {
  readonly #dependencies: Dependencies

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** The input of a run; undefined if it was not kept, and while the log is unavailable or slow. */
  of(caller: AccountCaller, row: RunRow): Promise<Input | undefined> {
    const none = () => undefined
    return withinTime(this.#dependencies.clock, this.#read(caller, row), MAX_WAIT_MS, none).catch(error => {
      if (error instanceof Unavailable) return undefined
      throw error
    })
  }

  /** A page of runs with their inputs, which ends early if these are large. Rejects with Unavailable. */
  async ofPage(
    caller: AccountCaller,
    { found, next }: Page<RunRow, RunId>,
    client?: WaitingClient,
  ): Promise<Page<RunWithInput, RunId>> {
    const shown: RunWithInput[] = []
    let characters = 0
    for (const row of found) {
      if (characters >= MAX_PAGE_CHARACTERS) return { found: shown, next: shown.at(-1)?.row.runId ?? null }
      await client?.nextTurn()
      if (client?.signal.aborted) return { found: [], next: null }
      const input = await this.#read(caller, row)
      characters += JSON.stringify(input ?? {}).length
      shown.push({ row, input })
    }
    return { found: shown, next }
  }

  async #read(caller: AccountCaller, { accountId, runId, queuedRevision, store }: RunRow): Promise<Input | undefined> {
    if (queuedRevision === undefined || store === false) return undefined
    const input = await readRunInput(this.#dependencies.log, { accountId, runId, queuedRevision })
    return seenBy(caller, input)
  }
}

type QueuedRun = Pick<WatchTask, 'accountId' | 'runId' | 'queuedRevision'>

/** The input of a run. Rejects like `readQueuedRun`. */
export const readRunInput = async (
  log: Pick<EventLog, 'readEvent'>,
  run: QueuedRun,
): Promise<Record<string, unknown>> => (await readQueuedRun(log, run)).input

/**
 * The event that accepted a run. It holds the input, which rows lack because they are read often and an input may have
 * 250 KB. Rejects with Unavailable, and with Damaged if the log differs from the views.
 */
export const readQueuedRun = async (
  log: Pick<EventLog, 'readEvent'>,
  { accountId, runId, queuedRevision }: QueuedRun,
): Promise<AcceptedRun> => {
  const stream = accountStream(accountId)
  const raw = await log.readEvent(stream, queuedRevision)
  const event = raw && eventCodec.decode(raw)
  if (!event || !isAcceptance(event) || event.data.runId !== runId)
    throw new Damaged(`${stream} does not accept ${runId} at revision ${queuedRevision}; rebuild the views`)
  return event.data
}
