/** The exit code of an audit that found a fault. */
export const WRONG = 1

/** The exit code of an audit that could not read the log. */
export const UNABLE = 2

/** A failed command. The message gives the reason and what to do. */
export class OperatorError extends Error {
  override name = 'OperatorError'
  readonly exitCode: number

  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}
