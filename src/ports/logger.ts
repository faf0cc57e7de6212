/** Where the service says what it does. Never hand it a secret: an API key, a signature, a header with either. */
export interface Logger {
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
  fatal(facts: object, message: string): void
}
