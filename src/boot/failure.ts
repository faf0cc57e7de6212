import { Damaged, Unavailable } from '../ports/faults.ts'
import { OperatorError } from '../services/operator-error.ts'
import { ConfigError } from './config.ts'

/** An error that ends the process, as one message for a person. Only what nobody foresaw comes with its stack. */
export const explainFailure = (error: unknown): string => {
  if (error instanceof ConfigError) return `The configuration cannot be used.\n${error.message}`
  if (error instanceof OperatorError || error instanceof Damaged || error instanceof Unavailable) return error.message
  const { code, message, stack } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return `${message}. Set PORT to a free port, or stop what uses this one.`
  if (code && ['EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'].includes(code))
    return `${message}. Check HOST and PORT.`
  return stack ?? String(error)
}
