/** Where a source puts what is to be pulled in pages. */
export interface Sink<Item> {
  push(item: Item, bytes: number): void
  /** How to hold the source up and let it go on. */
  control(flow: Flow): void
  /** From here on the source may be silent for as long as it likes. */
  mayPause(): void
}

export interface Flow {
  pause(): void
  resume(): void
}

export interface PageLimits {
  items: number
  bytes: number
  /** How long a source may be silent that is neither at its end nor allowed to pause, until it counts as slow. */
  slowAfterMs: number
  slow(): void
  /** The same until the read is given up, and the error then. */
  silentAfterMs: number
  silent(): Error
}

/** So many full pages may wait to be pulled, so that the source goes on while one is worked on. */
const READ_AHEAD = 2

/**
 * What a source pushes, as pages that are pulled. Pages are full until the source may pause; from then on they hold what
 * has come. Ends with the source or when the signal aborts, and stops the source when nobody pulls any more.
 */
export async function* inPages<Item>(
  read: (sink: Sink<Item>, signal: AbortSignal) => Promise<void>,
  limits: PageLimits,
  signal?: AbortSignal,
): AsyncGenerator<Item[]> {
  const stop = new AbortController()
  const full: Item[][] = []
  let page: Item[] = []
  let bytes = 0
  let mayPause = false
  let flow: Flow | undefined
  let end: { error?: unknown } | undefined
  let wake: (() => void) | undefined
  let silentMs = 0
  const take = (): Item[] | undefined => {
    if (full.length > 0) return full.shift()
    return page.length > 0 && (mayPause || end) ? turn() : undefined
  }
  const turn = (): Item[] => {
    const turned = page
    page = []
    bytes = 0
    return turned
  }
  const finish = (reason: { error?: unknown }) => {
    end ??= reason
    // Whoever holds a page may never come back for the next.
    clearInterval(timer)
    wake?.()
  }
  const abort = () => {
    finish({})
    stop.abort(new Error('nobody reads any more'))
  }
  const tickMs = Math.min(limits.slowAfterMs, limits.silentAfterMs) / 4
  const timer = setInterval(() => {
    // A source that is held up, or allowed to be silent, is not waited for.
    silentMs = wake && !mayPause ? silentMs + tickMs : 0
    if (silentMs >= limits.silentAfterMs) finish({ error: limits.silent() })
    else if (silentMs >= limits.slowAfterMs) limits.slow()
  }, tickMs)
  const sink: Sink<Item> = {
    push: (item, size) => {
      silentMs = 0
      page.push(item)
      bytes += size
      if (page.length >= limits.items || bytes >= limits.bytes) {
        full.push(turn())
        if (full.length >= READ_AHEAD) flow?.pause()
        wake?.()
      } else if (mayPause) wake?.()
    },
    control: given => {
      flow = given
      if (full.length >= READ_AHEAD) flow.pause()
    },
    mayPause: () => {
      mayPause = true
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
