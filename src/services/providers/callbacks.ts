import type { RunId } from '../../../schemas/primitives.ts'
import type { DueRow, WatchTask } from '../../../schemas/views.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import { Unavailable } from '../../ports/faults.ts'
import type { CallbackHeaders, ReportedJob } from '../../ports/provider.ts'
import type { ViewStore } from '../../ports/view-store.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller } from '../caller.ts'
import type { ProviderAccount } from './provider-account.ts'

/** Polls jobs: see `src/reactors/runs/active-runs.ts`. */
export interface Poller {
  /** Polls the job of a run as soon as possible, if this process works on runs. */
  pollJob(run: WatchTask): void
}

interface Dependencies {
  accounts: readonly ProviderAccount[]
  views: Pick<ViewStore, 'get'>
  poller: Poller
  clock: Pick<Clock, 'nowMs'>
}

export interface Callback {
  provider: string
  /** The run that the address names. Nobody has signed it. */
  runId: RunId | undefined
  headers: CallbackHeaders
  /** Called only if the provider may send callbacks. */
  readBody(): Promise<Uint8Array>
}

const NOT_SIGNED = new Error('no account signed this callback')

/**
 * Receives the callbacks of providers, which report the end of jobs. A callback only triggers an early poll for the
 * outcome, so repeated and lost callbacks do no harm. Logs no addresses or bodies, because they can hold secrets.
 */
export class Callbacks {
  readonly #dependencies: Dependencies

  /** Providers have no API key. They sign their callbacks. */
  readonly permissions = { receive: 'public' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Rejects with Unavailable if the service cannot verify the signature now, so that the provider reports again. */
  async receive(_caller: Caller, { provider, runId, headers, readBody }: Callback): Promise<Answer<undefined>> {
    const readers = this.#dependencies.accounts.flatMap(({ provider: name, client: { readCallback } }) =>
      name === provider && readCallback ? [readCallback] : [],
    )
    if (readers.length === 0) return refuse('callback_not_expected')
    const body = await readBody()
    const nowMs = this.#dependencies.clock.nowMs()
    const job = await signed(readers.map(read => read(headers, body, nowMs)))
    if (!job) return refuse('callback_not_signed')
    const run = runId && (await this.#dependencies.views.get<DueRow>('due', runId))
    // A provider may sign callbacks about jobs that are not ours.
    if (run && run.task === 'watch-run' && run.upstream.provider === provider && lastPart(run.jobId) === job.jobId)
      this.#dependencies.poller.pollJob(run)
    return answer(undefined)
  }
}

/** The first reading of several accounts that succeeds; undefined if all of them find it unsigned. */
const signed = async (readings: Promise<ReportedJob | undefined>[]): Promise<ReportedJob | undefined> => {
  try {
    return await Promise.any(readings.map(async reading => (await reading) ?? Promise.reject(NOT_SIGNED)))
  } catch (error) {
    const cause = (error as AggregateError).errors.find(each => each !== NOT_SIGNED)
    if (cause === undefined) return undefined
    throw new Unavailable('the signature of a callback cannot be checked now', { cause })
  }
}

const lastPart = (jobId: string | undefined): string | undefined => jobId?.split('/').at(-1)
