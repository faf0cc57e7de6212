import { randomBytes } from 'node:crypto'
import { MIN_MASTER_SECRET_LENGTH } from '../../schemas/primitives.ts'
import { type Config, ConfigError } from './config.ts'
import { readKeptFile } from './kept-file.ts'

/**
 * The secret from which others are derived. If none is configured, it is generated once and kept in a file that only
 * its owner can read.
 */
export const readMasterSecret = (source: Config['masterSecret']): string => {
  if (source.kind === 'given') return source.secret
  const { path } = source
  const secret = readKeptFile(path, () => randomBytes(32).toString('base64url'))
  // With an empty secret anyone could sign.
  if (secret.length >= MIN_MASTER_SECRET_LENGTH) return secret
  throw new ConfigError(`${path} contains no secret. Restore it, or delete it and give receivers their new secrets.`)
}
