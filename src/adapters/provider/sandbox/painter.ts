import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import type { Picture } from './paint.ts'

export interface Painter {
  /** Resolves to the encoded picture, or rejects when the signal aborts or the painter closes first. */
  paint(picture: Picture, signal?: AbortSignal): Promise<Uint8Array>
  /** Ends all threads at once, along with the pictures they were working on. */
  close(): Promise<void>
}

/** Paints on threads of their own, for a large picture would hold up the event loop for seconds. */
export function createPainter({ threads }: { threads: number }): Painter {
  let studio: Studio | undefined
  let closed = false

  return {
    async paint(picture, signal) {
      signal?.throwIfAborted()
      if (closed) throw new Error('The painter is closed.')
      // A studio whose threads cannot even start is given up, in case the reason goes away.
      if (studio === undefined || studio.failure !== undefined) studio = openStudio(threads)
      const current = studio
      try {
        return await current.pool.run(picture, { filename: workerFile, signal: signal ?? null })
      } catch (error) {
        throw current.failure ?? error
      }
    },

    async close() {
      closed = true
      await studio?.pool.destroy()
    },
  }
}

interface Studio {
  pool: Piscina<Picture, Uint8Array>
  failure?: Error
}

function openStudio(threads: number): Studio {
  // The pool is not told the file of the worker. That way a thread loads it along with its first picture, and an error
  // in doing so rejects that picture, where it would otherwise leave it waiting for ever.
  const pool = new Piscina({
    minThreads: LEAST_THREADS,
    maxThreads: threads,
    idleTimeout: IDLE_TIMEOUT_MS,
    // With atomics, the event loop of a thread would never turn, and only there native memory, such as that of a
    // canvas, is given back.
    atomics: 'disabled',
  })
  const studio: Studio = { pool }
  // Emitted when a thread dies without a picture in hand. Those that wait in the queue would not hear of it.
  pool.on('error', (error: Error) => {
    studio.failure ??= error
    void pool.destroy()
  })
  return studio
}

// The worker has the extension of this very file: `.ts` when run from source, and `.js` once compiled.
const workerFile = fileURLToPath(new URL(`./paint-worker${extname(import.meta.url)}`, import.meta.url))

// An abort ends the thread that was painting, and the pool only replaces it at once when it falls below this minimum.
// With none, the pictures in the queue would wait until somebody asks for another one.
const LEAST_THREADS = 1

// Long enough to keep the other threads warm between the pictures of one person trying things out, short enough to
// give an idle service its memory back.
const IDLE_TIMEOUT_MS = 30_000
