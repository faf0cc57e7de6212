import { readFileSync } from 'node:fs'

/** Each connection takes a file, and so do stores, uploads and calls to providers. */
export const FEW_FILES = 1024

/**
 * How many files this process may open. Node.js raises the soft limit to the hard one at its start. Undefined where the
 * system does not say it.
 */
export const openFilesLimit = (): number | undefined => {
  try {
    const [, limit] = /^Max open files +(\d+) /m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return limit === undefined ? undefined : Number(limit)
  } catch {
    return undefined
  }
}
