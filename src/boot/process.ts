import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { makeFolder } from '../adapters/make-folder.ts'
import { Damaged, Unavailable } from '../ports/faults.ts'
import { type Config, ConfigError } from './config.ts'

/** A message for the error that ends the process. Only unexpected errors show their stack. */
export const explainFailure = (error: unknown): string => {
  if (error instanceof ConfigError) return `The configuration is invalid.\n${error.message}`
  if (error instanceof Damaged || error instanceof Unavailable) return error.message
  const { code, syscall, path, message, stack } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return `${message}. Set PORT to a free port, or stop the process that uses this one.`
  if (code && path === undefined && ['EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'].includes(code))
    return `${message}. Check HOST and PORT.`
  if (syscall === 'link') return `${message}. Set DATA_DIR to a folder on a file system with hard links.`
  // The system's own message names the file.
  if (path !== undefined || code === 'ENOSPC') return `${message}.`
  return stack ?? String(error)
}

/** Connections, stores, uploads and calls to providers each take a file. */
export const FEW_FILES = 1024

/**
 * How many files this process may open. Node.js raises the soft limit to the hard limit when it starts. Undefined if
 * the system does not report the limit.
 */
export const openFilesLimit = (): number | undefined => {
  try {
    const [, limit] = /^Max open files +(\d+) /m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return limit === undefined ? undefined : Number(limit)
  } catch {
    return undefined
  }
}

/**
 * Hides the files that this process creates from other users, and closes the data folder to them. Call it before any
 * store is opened.
 */
export const keepFilesPrivate = (dataDir: string) => {
  process.umask(0o077)
  try {
    makeFolder(resolve(dataDir))
  } catch (error) {
    throw new ConfigError(`DATA_DIR cannot be created: ${(error as Error).message}.`)
  }
  // Closing a folder such as /tmp would stop other programs.
  if (isForeign(dataDir)) return
  try {
    chmodSync(dataDir, 0o700)
  } catch {
    // A mounted folder may belong to another user. The stores report a folder that they cannot use.
  }
}

/** What a service puts into its folder. `log` alone could be a folder of others, as in `/var`. */
const OWN_ENTRIES = ['log/data.mdb', 'log.restoring', 'views/data.mdb', 'objects', 'master-secret', 'seal-key.pem']

/** Whether a folder is in use, but not by a service. A new volume may have `lost+found`. */
const isForeign = (folder: string): boolean => {
  try {
    const names = readdirSync(folder).filter(name => name !== 'lost+found' && !name.startsWith('.'))
    return names.length > 0 && !OWN_ENTRIES.some(path => existsSync(join(folder, path)))
  } catch {
    // The stores report it.
    return false
  }
}

type Stores = Pick<Config, 'dataDir' | 'eventStore'>

/** Throws ConfigError if DATA_DIR should hold the log, and cannot. A command must not begin another log. */
export const expectDataDir = (config: Stores) => {
  const wrong = wrongDataDir(config)
  if (wrong !== undefined)
    throw new ConfigError(
      `DATA_DIR is ${resolve(config.dataDir)}, which ${wrong}. Set it as for the service, or start the service first.`,
    )
}

/** Why DATA_DIR cannot be the folder of a service with an embedded log. */
export const wrongDataDir = ({ dataDir, eventStore }: Stores): string | undefined => {
  if (eventStore.kind !== 'lmdb') return
  if (!existsSync(dataDir)) return 'does not exist'
  const hasLog = existsSync(join(eventStore.folder, 'data.mdb'))
  return !hasLog && isForeign(dataDir) ? 'holds other files, and no log' : undefined
}

/** Throws once the parent has ended, so that a child process does not outlive it. Call it between pages. */
export const ensureParent = async () => {
  await nextTurn()
  if (!process.connected) throw new Error('the parent process has ended')
}
