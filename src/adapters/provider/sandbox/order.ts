import type { Job } from '../../../ports/provider.ts'
import { hashText } from '../../../studio/random.ts'
import { type Craft, numberIn, type Work } from '../../../studio/work.ts'

/** The work for a job: a text answer, or media from the studio. The suffix of the endpoint id decides. */
export type Order =
  | { craft: 'answer'; seed: number }
  | { craft: Craft; seed: number; works: Work[]; source: 'image' | 'video' | undefined }

/** The sandbox needs no upstream parameters. */
export type SandboxJob = Omit<Job, 'upstream'>

export function orderFor({ runId, endpoint, input }: SandboxJob): Order {
  // Without a seed, runs differ, but each run is reproducible.
  const seed = numberIn(input, 'seed', hashText(runId))
  const kind = endpoint.slice(endpoint.lastIndexOf('-') + 1)
  if (kind === 't2t') return { craft: 'answer', seed }
  const craft = craftOf(kind, input)
  const copies = craft === 'picture' || craft === 'repaint' ? numberIn(input, 'num_images', 1) : 1
  const works = Array.from({ length: copies }, (_, index) => ({ craft, input, seed: seed + index }))
  return { craft, seed, works, source: SOURCES[kind.slice(0, 2)] }
}

/** The source that a kind of work needs, by the kind's prefix. */
const SOURCES: Record<string, 'image' | 'video'> = { i2: 'image', v2: 'video' }

function craftOf(kind: string, input: Job['input']): Craft {
  switch (kind) {
    case 't2i':
      return 'picture'
    case 'i2i':
      return 'repaint'
    case 't2v':
    case 'i2v':
    case 'v2v':
      return 'film'
    case 't2a':
      // Speech endpoints have a `text`, music endpoints a `prompt`.
      return 'text' in input ? 'speech' : 'music'
    default:
      throw new Error(`the sandbox does not support endpoints of kind ${kind}`)
  }
}

/** Whether a job continues after its submission. */
export const isLong = ({ craft }: Order) => craft === 'film' || craft === 'music'
