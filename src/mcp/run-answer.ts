import { hasEnded } from '../../projections/runs.ts'
import type { Run } from '../../schemas/api/run.ts'
import type { RunRow } from '../../schemas/views.ts'
import { mimeTypeOf } from '../domain/media-types.ts'
import { unwrap } from './refusals.ts'
import type { Call, ToolAnswer } from './tool.ts'

/** How long a response waits for its previews. */
const PREVIEW_MS = 15_000

/** A run with links to its files, previews of its pictures, and a note on how to continue if the run has not ended. */
export const runAnswer = async (row: RunRow, call: Call, ...notes: string[]): Promise<ToolAnswer<Run>> => {
  const { present, services, caller, signal } = call
  const run = present.run(row, { warnings: unwrap(await services.runs.readWarnings(caller, row)) })
  const more = `The run continues. Call get_run with run_id ${row.runId} for its result.`
  const until = AbortSignal.any([signal, AbortSignal.timeout(PREVIEW_MS)])
  const previews = unwrap(await services.previews.ofRun(caller, row, until))
  return { body: run, notes: hasEnded(row) ? notes : [...notes, more], links: linksOf(run), pictures: previews }
}

const linksOf = ({ output }: Run) => {
  const urls = output?.urls ?? (output?.url === undefined ? [] : [output.url])
  return urls.map(uri => ({
    type: 'resource_link' as const,
    uri,
    name: uri.slice(uri.lastIndexOf('/') + 1),
    mimeType: mimeTypeOf(uri),
  }))
}
