import { OperatorError } from '../operator-error.ts'
import { UNABLE } from './with-log.ts'

/**
 * Writes pieces of text to the standard output, each when the reader has taken the one before. Ends early, without an
 * error, if the reader has left, as `head` does. Throws OperatorError if the output cannot be written.
 */
export const writeOut = async (pieces: AsyncIterable<string> | Iterable<string>): Promise<void> => {
  // A failure also rejects the write that met it. Without a listener it would end the process.
  const ignore = () => undefined
  process.stdout.on('error', ignore)
  for await (const piece of pieces) if (!(await write(piece))) return
  // After a failed write the listener stays, because the event may come later.
  process.stdout.off('error', ignore)
}

/** Resolves when the text is written: to false if nobody reads it. */
const write = (text: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, error => {
      if (!error) return resolve(true)
      if ((error as NodeJS.ErrnoException).code === 'EPIPE') return resolve(false)
      reject(new OperatorError(`The output cannot be written: ${error.message}.`, UNABLE))
    })
  })
