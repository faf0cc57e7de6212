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
  /** How long a source may be silent that is neither at its end nor allowed to pause, and the error when it is. */
  silenceMs: number
  silent(): Error
}

/**
 * What a source pushes, as pages that are pulled, and never more than one page ahead. Pages are full until the source may
 * pause; from then on they hold what has come. Ends with the source or when the signal aborts, and stops the source when
 * nobody pulls any more.
 */
export async function* inPages<Item>(
  read: (sink: Sink<Item>, signal: AbortSignal) => Promise<void>,
  limits: PageLimits,
  signal?: AbortSignal,
): AsyncGenerator<Item[]> {
  const stop = new AbortController()
  let page: Item[] = []
  let bytes = 0
  let mayPause = false
  let flow: Flow | undefined
  let end: { error?: unknown } | undefined
  let wake = () => {}
  const isFull = () => page.length >= limits.items || bytes >= limits.bytes
  const finish = (reason: { error?: unknown }) => {
    end ??= reason
    wake()
  }
  const abort = () => {
    finish({})
    stop.abort(new Error('nobody reads any more'))
  }
  const sink: Sink<Item> = {
    push: (item, size) => {
      page.push(item)
      bytes += size
      if (isFull()) flow?.pause()
      wake()
    },
    control: given => {
      flow = given
    },
    mayPause: () => {
      mayPause = true
      wake()
    },
  }
  signal?.addEventListener('abort', abort)
  try {
    read(sink, stop.signal).then(
      () => finish({}),
      error => finish({ error }),
    )
    while (!signal?.aborted) {
      if (page.length > 0 && (mayPause || end || isFull())) {
        const taken = page
        page = []
        bytes = 0
        flow?.resume()
        yield taken
      } else if (end) {
        if ('error' in end) throw end.error
        return
      } else {
        const timer = mayPause ? undefined : setTimeout(() => finish({ error: limits.silent() }), limits.silenceMs)
        await new Promise<void>(resolve => {
          wake = resolve
        })
        clearTimeout(timer)
      }
    }
  } finally {
    signal?.removeEventListener('abort', abort)
    abort()
  }
}
