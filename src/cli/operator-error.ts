/** A command that fails. The message explains why, and what to do instead. */
export class OperatorError extends Error {
  override name = 'OperatorError'
  readonly exitCode: number

  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}
