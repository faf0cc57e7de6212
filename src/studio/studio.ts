import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { Semaphore } from '../flow/semaphore.ts'
import type { Craft, Made, Unusable, Work } from './work.ts'
import { openChannel } from './worker-channel.ts'

export interface Studio {
  /**
   * Resolves to the finished media. Rejects if the signal aborts or the studio closes first, and with Overrun if the
   * work takes too much. Customers take turns.
   */
  make(work: Work, signal?: AbortSignal, customer?: string): Promise<Made | Unusable>
  /** Terminates all threads and their work at once. */
  close(): Promise<void>
}

/** The work took more time or memory than a thread has for it, and would again. */
export class Overrun extends Error {
  override name = 'Overrun'
  readonly of: 'time' | 'memory'

  constructor(of: Overrun['of'], options?: ErrorOptions) {
    super(`the work takes too much ${of}`, options)
    this.of = of
  }
}

interface StudioOptions {
  threads?: number
  /** The JavaScript heap of a thread. Pixels and files lie outside it. */
  heapMb?: number
  timeLimitMs?: (craft: Craft) => number
}

/** Makes media in worker threads, because a large picture would block the event loop for seconds. */
export function createStudio({
  threads = defaultThreads(),
  heapMb = HEAP_MB,
  timeLimitMs = craft => (slow.has(craft) ? SLOW_LIMIT_MS : LIMIT_MS),
}: StudioOptions = {}): Studio {
  const slowWork = new Semaphore({ each: Math.max(1, threads - 1), leavesRoom: false })
  const quickWork = new Semaphore({ each: threads, leavesRoom: false })
  const decoding = new Semaphore({ each: 1 })
  let workers: WorkerPool | undefined
  let closed = false

  const run = async (work: Work, signal?: AbortSignal) => {
    if (closed) throw new Error('the studio is closed')
    // If threads failed to start, tries again with a new pool.
    if (workers === undefined || workers.failure !== undefined) workers = startPool(threads, heapMb)
    const current = workers
    const line = openChannel(timeLimitMs(work.craft), decoding)
    try {
      return await current.pool.run(
        { ...work, line: line.port },
        {
          filename: workerFile,
          signal: signal ? AbortSignal.any([signal, line.signal]) : line.signal,
          transferList: [line.port, ...givenMemory(work)],
        },
      )
    } catch (error) {
      if (line.signal.aborted) throw new Overrun('time', { cause: error })
      if (isOutOfMemory(error)) throw new Overrun('memory', { cause: error })
      throw current.failure ?? error
    } finally {
      line.close()
    }
  }

  return {
    make: (work, signal, customer = '') =>
      (slow.has(work.craft) ? slowWork : quickWork).run('', customer, () => run(work, signal), signal),

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

function startPool(threads: number, heapMb: number): WorkerPool {
  // Without a filename here, a thread loads the worker with its first work, and a load error rejects that work. With
  // one, the work would wait forever.
  const pool = new Piscina({
    minThreads: MIN_THREADS,
    maxThreads: threads,
    idleTimeout: IDLE_TIMEOUT_MS,
    niceIncrement: NICENESS,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
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

/** A source in memory that it shares with others is copied. */
const givenMemory = ({ source, givesSource }: Work) =>
  givesSource && source?.buffer instanceof ArrayBuffer && source.byteLength === source.buffer.byteLength
    ? [source.buffer]
    : []

const isOutOfMemory = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'

/** At least two, so that a picture never waits for a film. */
const defaultThreads = () => Math.max(2, availableParallelism())

/** Work that may take minutes leaves one thread free for short work. */
const slow: ReadonlySet<Craft> = new Set(['film', 'music'])

// The longest speech takes half a minute, and pictures a few seconds; this allows for a busy machine.
const LIMIT_MS = 100_000

// The longest film takes a few minutes.
const SLOW_LIMIT_MS = 600_000

// Ten times the memory that any work needs.
const HEAP_MB = 256

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
const NICENESS = process.platform === 'linux' ? 5 : 0
