/** The service's log. Never pass a secret: an API key, a signature, or a header with either. */
export interface Logger {
  /** Whether this level is logged, for callers whose facts are expensive to collect. */
  isLevelEnabled(level: 'debug' | 'info'): boolean
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
  fatal(facts: object, message: string): void
}
