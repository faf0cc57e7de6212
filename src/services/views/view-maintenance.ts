import type { ProjectionSet } from '../../engine/views/project.ts'
import { compareViews, type OpenScratch, type Rebuild, rebuildViews } from '../../engine/views/rebuild.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { Unavailable } from '../../ports/faults.ts'
import { type CellChange, CheckpointMoved, type ViewStore } from '../../ports/view-store.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller } from '../caller.ts'
import { eventCodec } from '../event-codec.ts'

const TOO_BUSY = 'the views advanced during each attempt to rebuild them; repeat the command when less is written'

interface Dependencies {
  log: EventLog
  views: ViewStore
  projections: ProjectionSet
  openScratch: OpenScratch
}

/** Gets the number of replayed events, and the number of events at the start. */
type OnReplayProgress = (replayed: number, total: number) => void

/** Lets operators check the views against the log, and rebuild them. */
export class ViewMaintenance {
  readonly #dependencies: Dependencies

  readonly permissions = { verify: 'operate', rebuild: 'operate' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Replays the log, and returns the differences from the views; none if the views are intact. */
  async verify(_caller: Caller, onProgress?: OnReplayProgress): Promise<Answer<CellChange[]>> {
    const { scratch, discard } = await this.#dependencies.openScratch()
    try {
      return answer((await compareViews(await this.#rebuild(onProgress), scratch)).changes)
    } finally {
      await discard()
    }
  }

  /**
   * Rebuilds the views from the log and replaces them in one step. Returns the changes. Rejects with Unavailable if a
   * busy projector advances the views during each attempt.
   */
  async rebuild(_caller: Caller, onProgress?: OnReplayProgress): Promise<Answer<CellChange[]>> {
    const { views, openScratch } = this.#dependencies
    await views.deleteSnapshots()
    const changes = await rebuildViews({ ...(await this.#rebuild(onProgress)), openScratch }).catch(error => {
      throw error instanceof CheckpointMoved ? new Unavailable(TOO_BUSY, { part: 'views' }) : error
    })
    return answer(changes)
  }

  async #rebuild(onProgress?: OnReplayProgress): Promise<Rebuild> {
    const { log, views, projections } = this.#dependencies
    const total = (await log.head()) + 1
    return {
      log,
      codec: eventCodec,
      store: views,
      projections,
      onProgress: position => onProgress?.(position + 1, total),
    }
  }
}
