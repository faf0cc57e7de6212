import { hasEnded } from '../../../projections/runs.ts'
import type { AccountCaller } from '../../../src/services/caller.ts'
import type { StreamedRun } from '../../../src/services/runs/runs.ts'
import type { Running, SimulatedProcess } from './process.ts'
import type { World } from './world.ts'

/** How long a client listens before it leaves or cancels. */
const PATIENCE_MS = 800

interface Listened {
  running: Running
  process: SimulatedProcess
  caller: AccountCaller
  /** Whether the run goes on without its client. */
  goesOn: boolean
}

/** Listens to the text of a run to its end, unless the client leaves, which cancels most runs, or cancels the run. */
export const listen = async (world: World, run: StreamedRun, { running, process, caller, goesOn }: Listened) => {
  const { chance, timeline, truth, texts } = world
  const { runId } = run.row
  const left = new AbortController()
  const cancel = () => running.services.runs.cancelRun(caller, runId, { waitMs: 0 }).catch(() => undefined)
  const act = chance.pick(['stays', 'stays', 'leaves', 'cancels'] as const)
  const dont = timeline.after(chance.between(0, PATIENCE_MS), () => {
    if (act === 'stays') return
    world.count(`listener ${act}`)
    if (act === 'cancels' || !goesOn) void cancel()
    if (act === 'leaves') left.abort()
  })
  let heard = ''
  const hearing = run.texts.subscribe(piece => {
    heard += piece
    texts.hear(runId, heard)
  })
  try {
    const row = await run.ended(left.signal)
    truth.expectRun(caller.accountId, process, row)
    if (hasEnded(row)) texts.expectShown(row)
  } finally {
    dont()
    hearing.unsubscribe()
  }
}
