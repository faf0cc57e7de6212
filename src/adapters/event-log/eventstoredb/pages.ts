/** Receives pushed items. */
interface Sink<Item> {
  push(item: Item, bytes: number): void
  /** Sets how to pause and resume the source. */
  setFlow(flow: Flow): void
  /** The source has caught up, and may be silent from now on. */
  live(): void
}

export interface Flow {
  pause(): void
  resume(): void
}

interface PageOptions {
  items: number
  bytes: number
  /** The time without items after which a source counts as slow while it catches up. */
  slowAfterMs: number
  onSlow(): void
  /** The time after which the read fails, with its error. */
  timeoutMs: number
  toTimeout(): Error
}

/** How many full pages to buffer, so that the source continues while the consumer works. */
const READ_AHEAD = 2

/**
 * Groups pushed items into pages that a consumer pulls. Pages are full during catch-up; afterwards each has the items
 * that have arrived. Ends with the source or when the signal aborts. Stops the source when the consumer stops.
 */
export async function* paginate<Item>(
  read: (sink: Sink<Item>, signal: AbortSignal) => Promise<void>,
  options: PageOptions,
  signal?: AbortSignal,
): AsyncGenerator<Item[]> {
  const stop = new AbortController()
  const full: Item[][] = []
  let page: Item[] = []
  let bytes = 0
  let isLive = false
  let flow: Flow | undefined
  let end: { error?: unknown } | undefined
  let wake: (() => void) | undefined
  let silentMs = 0
  const take = (): Item[] | undefined => {
    if (full.length > 0) return full.shift()
    return page.length > 0 && (isLive || end) ? endPage() : undefined
  }
  const endPage = (): Item[] => {
    const ended = page
    page = []
    bytes = 0
    return ended
  }
  const finish = (reason: { error?: unknown }) => {
    end ??= reason
    // The consumer may never ask for another page.
    clearInterval(timer)
    wake?.()
  }
  const abort = () => {
    finish({})
    stop.abort(new Error('the reader has stopped'))
  }
  const tickMs = Math.min(options.slowAfterMs, options.timeoutMs) / 4
  const timer = setInterval(() => {
    // Silence counts only while the consumer waits for a source that is catching up.
    silentMs = wake && !isLive ? silentMs + tickMs : 0
    if (silentMs >= options.timeoutMs) finish({ error: options.toTimeout() })
    else if (silentMs >= options.slowAfterMs) options.onSlow()
  }, tickMs)
  const sink: Sink<Item> = {
    push: (item, size) => {
      silentMs = 0
      page.push(item)
      bytes += size
      if (page.length >= options.items || bytes >= options.bytes) {
        full.push(endPage())
        if (full.length >= READ_AHEAD) flow?.pause()
        wake?.()
      } else if (isLive) wake?.()
    },
    setFlow: given => {
      flow = given
      if (full.length >= READ_AHEAD) flow.pause()
    },
    live: () => {
      isLive = true
      wake?.()
    },
  }
  signal?.addEventListener('abort', abort)
  try {
    read(sink, stop.signal).then(
      () => finish({}),
      error => finish({ error }),
    )
    while (!signal?.aborted) {
      const taken = take()
      if (taken) {
        if (full.length < READ_AHEAD) flow?.resume()
        yield taken
      } else if (end) {
        if ('error' in end) throw end.error
        return
      } else {
        silentMs = 0
        await new Promise<void>(resolve => {
          wake = resolve
        })
        wake = undefined
      }
    }
  } finally {
    signal?.removeEventListener('abort', abort)
    abort()
  }
}
