/** Passes each value to the present listeners and waiters. */
export class Signal<Value> {
  readonly #listeners = new Set<(value: Value) => void>()

  emit(value: Value) {
    for (const listener of this.#listeners) listener(value)
  }

  /** Returns a function that removes the listener. */
  listen(listener: (value: Value) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Resolves at the next value, after the timeout, or when the abort signal aborts. */
  wait(timeoutMs: number, abort: AbortSignal): Promise<void> {
    return new Promise(resolve => {
      const wake = () => {
        clearTimeout(timer)
        abort.removeEventListener('abort', wake)
        end()
        resolve()
      }
      const timer = setTimeout(wake, timeoutMs)
      abort.addEventListener('abort', wake)
      const end = this.listen(wake)
    })
  }
}
