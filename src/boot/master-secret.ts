import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { MIN_MASTER_SECRET_LENGTH } from '../../schemas/primitives.ts'
import { type Config, ConfigError } from './config.ts'

/** The secret that others are derived from. Where none is given, it is made once and kept in a file for the owner's eyes. */
export const readMasterSecret = (source: Config['masterSecret']): string => {
  if (source.kind === 'given') return source.secret
  const { path } = source
  try {
    return check(readFileSync(path, 'utf8'), path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  mkdirSync(dirname(path), { recursive: true })
  // Two processes have the same process id where each has a container of its own.
  const own = `${path}.${randomUUID()}`
  writeFileSync(own, randomBytes(32).toString('base64url'), { mode: 0o600, flush: true })
  try {
    // The file appears whole, and of several processes that start at once only one puts it there.
    linkSync(own, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(own)
  }
  return check(readFileSync(path, 'utf8'), path)
}

/** A secret for one purpose, from which neither the master secret nor another one can be learned. */
export const deriveSecret = (masterSecret: string, purpose: string): string =>
  createHmac('sha256', masterSecret).update(purpose).digest('hex')

/** With an empty secret anybody could sign. */
const check = (secret: string, path: string): string => {
  if (secret.length >= MIN_MASTER_SECRET_LENGTH) return secret
  throw new ConfigError(`${path} holds no secret. Restore it, or delete it and give receivers their new secrets.`)
}
