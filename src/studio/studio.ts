import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { Gate } from './gate.ts'
import type { Craft, Made, Unusable, Work } from './work.ts'

export interface Studio {
  /**
   * Resolves to what was asked for, or rejects when the signal aborts or the studio closes first. A source is loaded only when
   * the work's turn has come, since many works may wait, and sources are large.
   */
  make(work: Work, signal?: AbortSignal, loadSource?: () => Promise<Uint8Array>): Promise<Made | Unusable>
  /** Ends all threads at once, along with what they were working on. */
  close(): Promise<void>
}

/** Makes media on threads of their own, for a large picture would hold up the event loop for seconds. */
export function createStudio({ threads = defaultThreads() }: { threads?: number } = {}): Studio {
  const slowGate = new Gate(Math.max(1, threads - 1))
  const sourceGate = new Gate(threads * SOURCES_PER_THREAD)
  let crew: Crew | undefined
  let closed = false

  const run = async (work: Work, signal?: AbortSignal, loadSource?: () => Promise<Uint8Array>) => {
    const source = await loadSource?.()
    signal?.throwIfAborted()
    if (closed) throw new Error('The studio is closed.')
    // A crew whose threads cannot even start is given up, in case the reason goes away.
    if (crew === undefined || crew.failure !== undefined) crew = hire(threads)
    const current = crew
    try {
      return await current.pool.run(source ? { ...work, source } : work, {
        filename: workerFile,
        signal: signal ?? null,
      })
    } catch (error) {
      throw current.failure ?? error
    }
  }

  return {
    make(work, signal, loadSource) {
      const begin = () => run(work, signal, loadSource)
      if (slow.has(work.craft)) return slowGate.pass(begin, signal)
      return loadSource ? sourceGate.pass(begin, signal) : begin()
    },

    async close() {
      closed = true
      await crew?.pool.destroy()
    },
  }
}

interface Crew {
  pool: Piscina<Work, Made | Unusable>
  failure?: Error
}

function hire(threads: number): Crew {
  // The pool is not told the file of the worker. That way a thread loads it along with its first work, and an error
  // in doing so rejects that work, where it would otherwise leave it waiting for ever.
  const pool = new Piscina({
    minThreads: LEAST_THREADS,
    maxThreads: threads,
    idleTimeout: IDLE_TIMEOUT_MS,
    niceIncrement: NICENESS,
    // With atomics, the event loop of a thread would never turn, and only there native memory, such as that of a
    // canvas, is given back.
    atomics: 'disabled',
  })
  const crew: Crew = { pool }
  // Emitted when a thread dies without work in hand. What waits in the queue would not hear of it.
  pool.on('error', (error: Error) => {
    crew.failure ??= error
    void pool.destroy()
  })
  return crew
}

/** With two at least, a picture never waits for a film to end. */
const defaultThreads = () => Math.max(2, availableParallelism())

/** What may take minutes leaves one thread to what somebody waits for. */
const slow: ReadonlySet<Craft> = new Set(['film', 'music'])

// More than one, so that a source that comes slowly does not leave the thread without work; few, since each source is
// held in memory from when it is loaded until its picture is done.
const SOURCES_PER_THREAD = 4

// The worker has the extension of this very file: `.ts` when run from source, and `.js` once compiled.
const workerFile = fileURLToPath(new URL(`./studio-worker${extname(import.meta.url)}`, import.meta.url))

// An abort ends the thread that was at work, and the pool only replaces it at once when it falls below this minimum.
// With none, what is in the queue would wait until somebody asks for more.
const LEAST_THREADS = 1

// Long enough to keep the other threads warm between the pictures of one person trying things out, short enough to
// give an idle service its memory back.
const IDLE_TIMEOUT_MS = 30_000

// Makes the threads give way to the service itself. Only Linux has a niceness for each thread; elsewhere it would hold
// for the whole process.
const NICENESS = process.platform === 'linux' ? 10 : 0
