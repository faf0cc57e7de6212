import { toColumns } from './columns.ts'
import { OperatorError, UNABLE } from './operator-error.ts'

/** Prints one object, as JSON or as a list of fields. */
export const printOne = (thing: Record<string, unknown>, { json }: { json?: boolean }) => {
  if (json) return console.log(JSON.stringify(thing))
  console.log(toColumns(Object.entries(thing).map(([name, value]) => [words(name), show(value)])))
}

/** Prints a list of objects, as JSON or as a table. */
export const printMany = (things: Record<string, unknown>[], { json }: { json?: boolean }, none: string) => {
  if (json) return console.log(JSON.stringify(things))
  const [first] = things
  if (!first) return console.log(none)
  console.log(
    toColumns(
      things.map(thing => Object.values(thing).map(show)),
      { head: Object.keys(first).map(words) },
    ),
  )
}

const words = (name: string): string => name.replaceAll('_', ' ')

const show = (value: unknown): string => (value === undefined || value === null ? '–' : String(value))

/** The interval between reports of progress. */
const REPORT_EVERY_MS = 1000

/** Returns a function that shows progress on a terminal, such as "replayed 100 of 2000 events". */
export const progressReport = (verb: string): ((done: number, total: number) => void) => {
  if (!process.stderr.isTTY) return () => undefined
  let shownAtMs = performance.now()
  return (done, total) => {
    if (performance.now() - shownAtMs < REPORT_EVERY_MS) return
    shownAtMs = performance.now()
    console.error(`${verb} ${done} of ${total} events`)
  }
}

/**
 * Writes pieces to the standard output, each after the reader has taken the previous one. Ends early, without an error,
 * if the reader has left, as `head` does. Throws OperatorError if the output, a `noun`, cannot be written.
 */
export const writeOut = async (
  pieces: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  noun = 'export',
): Promise<void> => {
  // A failed write also rejects. Without a listener, the event would end the process.
  const ignore = () => undefined
  process.stdout.on('error', ignore)
  for await (const piece of pieces) if (!(await write(piece, noun))) return
  // After a failed write the listener stays, because the event may come later.
  process.stdout.off('error', ignore)
}

/** Resolves once the piece is written, or to false if the reader has left. */
const write = (piece: string | Uint8Array, noun: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    process.stdout.write(piece, error => {
      if (!error) return resolve(true)
      if ((error as NodeJS.ErrnoException).code === 'EPIPE') return resolve(false)
      reject(new OperatorError(`The ${noun} cannot be written: ${error.message}.`, UNABLE))
    })
  })
