/** How often long work reports its progress. */
const REPORT_EVERY_MS = 1000

/** Returns a function that shows the progress of long work on a terminal, such as "replayed 100 of 2000 events". */
export const progressReport = (verb: string): ((done: number, total: number) => void) => {
  if (!process.stderr.isTTY) return () => undefined
  let shownAtMs = performance.now()
  return (done, total) => {
    if (performance.now() - shownAtMs < REPORT_EVERY_MS) return
    shownAtMs = performance.now()
    console.error(`${verb} ${done} of ${total} events`)
  }
}
