import { OperatorError } from '../operator-error.ts'
import { UNABLE } from './with-log.ts'

/**
 * Writes pieces to the standard output, each when the reader has taken the one before. Ends early, without an error, if
 * the reader has left, as `head` does. Throws OperatorError if the output, which is a `noun`, cannot be written.
 */
export const writeOut = async (
  pieces: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  noun = 'export',
): Promise<void> => {
  // A failure also rejects the write that met it. Without a listener it would end the process.
  const ignore = () => undefined
  process.stdout.on('error', ignore)
  for await (const piece of pieces) if (!(await write(piece, noun))) return
  // After a failed write the listener stays, because the event may come later.
  process.stdout.off('error', ignore)
}

/** Resolves when the piece is written: to false if nobody reads it. */
const write = (piece: string | Uint8Array, noun: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    process.stdout.write(piece, error => {
      if (!error) return resolve(true)
      if ((error as NodeJS.ErrnoException).code === 'EPIPE') return resolve(false)
      reject(new OperatorError(`The ${noun} cannot be written: ${error.message}.`, UNABLE))
    })
  })
