import { Damaged, Unavailable } from '../ports/faults.ts'
import { ConfigError } from './config.ts'

/** A message for the error that ends the process. Only unexpected errors show their stack. */
export const explainFailure = (error: unknown): string => {
  if (error instanceof ConfigError) return `The configuration is invalid.\n${error.message}`
  if (error instanceof Damaged || error instanceof Unavailable) return error.message
  const { code, syscall, message, stack } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return `${message}. Set PORT to a free port, or stop the process that uses this one.`
  if (code && ['EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'].includes(code))
    return `${message}. Check HOST and PORT.`
  if (syscall === 'link') return `${message}. Set DATA_DIR to a folder on a file system with hard links.`
  return stack ?? String(error)
}
