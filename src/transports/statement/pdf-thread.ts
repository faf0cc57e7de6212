import { once } from 'node:events'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Brand } from '../../domain/brand.ts'
import { OneAtATime } from '../../flow/one-at-a-time.ts'
import type { SpokenLine } from './lines.ts'
import type { SheetFacts } from './sheet.ts'

/** A statement to lay out. */
export interface PdfOrder extends SheetFacts {
  lines: readonly SpokenLine[]
  brand: Brand
}

/** Longer than the longest PDF takes on a busy machine. */
const TIME_LIMIT_MS = 60_000

/** A PDF of the most lines takes half of it. */
const HEAP_MB = 512

const program = new URL(`./pdf-worker${extname(import.meta.url)}`, import.meta.url)

/** Threads of several PDFs would take all cores. */
const turns = new OneAtATime<'pdf'>()

/** The statement as a PDF. A thread lays it out, since that takes seconds. Rejects when the signal aborts. */
export const statementPdf = (order: PdfOrder, signal: AbortSignal): Promise<Uint8Array> =>
  turns.do('pdf', async () => {
    signal.throwIfAborted()
    const worker = new Worker(program, { workerData: order, resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } })
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(TIME_LIMIT_MS)])
      const [bytes] = await once(worker, 'message', { signal: limit })
      return bytes
    } finally {
      void worker.terminate()
    }
  })
