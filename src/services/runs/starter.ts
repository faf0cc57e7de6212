import type { Observable } from 'rxjs'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { AccountId, RunId } from '../../../schemas/primitives.ts'
import type { Recorded } from '../../../schemas/recorded.ts'
import type { WatchTask } from '../../../schemas/views.ts'
import type { ProviderRoute } from '../providers/routes.ts'
import type { InputPart } from './long-parameters.ts'

/** Executes runs: see `src/reactors/runs/active-runs.ts`. */
export interface Starter {
  /**
   * Chooses the route that is tried first, and takes a permit of its provider; undefined if no permit is free for the
   * account.
   */
  reserveRoute(run: Pick<RunToDo, 'endpoint' | 'input' | 'accountId' | 'livemode'>): ProviderRoute | undefined
  releaseRoute(route: ProviderRoute, accountId: AccountId): void
  /** How long no provider takes the run, as far as this process knows; undefined if one takes it now. */
  waitMs(run: Pick<RunToDo, 'endpoint' | 'input' | 'livemode'>): number | undefined
  /** Starts the work of a run whose start is durable, on its reserved route. Resolves to the events that ended it. */
  beginRun(run: RunToDo, route: ProviderRoute): Promise<Recorded<AccountEvent>[]>
  /** The text of a streaming run so far; undefined unless this process works on it. */
  textOf(runId: RunId): string | undefined
  /** Emits each further piece of it. */
  furtherTextOf(runId: RunId): Observable<string>
}

/** A run to submit to a provider. */
export type RunToDo = Omit<
  WatchTask,
  'task' | 'queue' | 'dueAt' | 'cancelRequested' | 'queuedRevision' | 'webhookUrl' | 'upstream'
> & {
  input: Record<string, unknown>
  /** The parts of the input that are stored before anything else. */
  long?: InputPart[]
  /** Set if nothing of the run is kept. */
  store?: false
  /** Whether somebody wants the text as it arrives. */
  streams?: boolean
}
