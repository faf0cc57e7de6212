import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { Gate } from './gate.ts'
import type { Craft, Made, Unusable, Work } from './work.ts'

export interface Studio {
  /**
   * Resolves to the finished media. Rejects if the signal aborts or the studio closes first. Loads the source only when
   * the work's turn has come, because the queue may be long and sources are large.
   */
  make(work: Work, signal?: AbortSignal, loadSource?: () => Promise<Uint8Array>): Promise<Made | Unusable>
  /** Terminates all threads and their work at once. */
  close(): Promise<void>
}

/** Makes media in worker threads, because a large picture would block the event loop for seconds. */
export function createStudio({ threads = defaultThreads() }: { threads?: number } = {}): Studio {
  const slowGate = new Gate(Math.max(1, threads - 1))
  const sourceGate = new Gate(threads * SOURCES_PER_THREAD)
  let workers: WorkerPool | undefined
  let closed = false

  const run = async (work: Work, signal?: AbortSignal, loadSource?: () => Promise<Uint8Array>) => {
    const source = await loadSource?.()
    signal?.throwIfAborted()
    if (closed) throw new Error('the studio is closed')
    // If threads failed to start, tries again with a new pool.
    if (workers === undefined || workers.failure !== undefined) workers = startPool(threads)
    const current = workers
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
      await workers?.pool.destroy()
    },
  }
}

interface WorkerPool {
  pool: Piscina<Work, Made | Unusable>
  failure?: Error
}

function startPool(threads: number): WorkerPool {
  // Without a filename here, a thread loads the worker with its first work, and a load error rejects that work. With
  // one, the work would wait forever.
  const pool = new Piscina({
    minThreads: MIN_THREADS,
    maxThreads: threads,
    idleTimeout: IDLE_TIMEOUT_MS,
    niceIncrement: NICENESS,
    // With atomics, a thread's event loop would never turn, and native memory, such as a canvas's, would never be
    // freed.
    atomics: 'disabled',
  })
  const workers: WorkerPool = { pool }
  // Emitted when an idle thread dies. Queued work would wait forever.
  pool.on('error', (error: Error) => {
    workers.failure ??= error
    void pool.destroy()
  })
  return workers
}

/** At least two, so that a picture never waits for a film. */
const defaultThreads = () => Math.max(2, availableParallelism())

/** Work that may take minutes leaves one thread free for short work. */
const slow: ReadonlySet<Craft> = new Set(['film', 'music'])

// More than one, so that a slow source does not idle the thread; few, because each source stays in memory until its
// picture is done.
const SOURCES_PER_THREAD = 4

// The worker has this file's extension: `.ts` from source, `.js` once compiled.
const workerFile = fileURLToPath(new URL(`./studio-worker${extname(import.meta.url)}`, import.meta.url))

// An abort terminates the working thread, and the pool replaces it at once only below this minimum. With 0, queued work
// would wait for the next request.
const MIN_THREADS = 1

// Long enough to keep threads warm while one person tries things out, short enough to free the memory of an idle
// service.
const IDLE_TIMEOUT_MS = 30_000

// Lowers the threads' priority below the service's. Only Linux has niceness per thread; elsewhere it would apply to the
// whole process.
const NICENESS = process.platform === 'linux' ? 10 : 0
