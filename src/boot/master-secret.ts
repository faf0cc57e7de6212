import { randomBytes, randomUUID } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { MIN_MASTER_SECRET_LENGTH } from '../../schemas/primitives.ts'
import { type Config, ConfigError } from './config.ts'

/**
 * The secret from which other secrets are derived. If none is configured, it is created once in a file that only its
 * owner can read.
 */
export const readMasterSecret = (source: Config['masterSecret']): string => {
  if (source.kind === 'given') return source.secret
  const { path } = source
  const secret = readKeptFile(path, () => randomBytes(32).toString('base64url'))
  // Anyone could sign with an empty secret.
  if (secret.length >= MIN_MASTER_SECRET_LENGTH) return secret
  throw new ConfigError(`${path} contains no secret. Restore it, or delete it and give receivers their new secrets.`)
}

/** What a missing file of the secret means for a log that has events. */
export const lostMasterSecret = (path: string): string =>
  `${path} is missing, although the log has events. Restore it, or set MASTER_SECRET.`

/** The text of a file that only its owner can read. Creates the file if it is missing. */
export const readKeptFile = (path: string, create: () => string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  mkdirSync(dirname(path), { recursive: true })
  // A process ID is not unique, since each container has its own.
  const own = `${path}.${randomUUID()}`
  writeFileSync(own, create(), { mode: 0o600, flush: true })
  try {
    // A link appears complete, and only one of several processes can create it.
    linkSync(own, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(own)
  }
  return readFileSync(path, 'utf8')
}
