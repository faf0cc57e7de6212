/** Where the service says what it does. Never hand it a secret: an API key, a signature, a header with either. */
export interface Logger {
  /** Whether a line of this level would be written, for those whose facts cost something to collect. */
  isLevelEnabled(level: 'debug' | 'info'): boolean
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
  fatal(facts: object, message: string): void
}
