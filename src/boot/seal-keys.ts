import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parseSealKey, type SealKey } from '../services/seals/seal-key.ts'
import { type Config, ConfigError } from './config.ts'
import { readKeptFile } from './kept-file.ts'

/** The key that signs seals, and the one before it. Throws ConfigError if one of them is no key. */
export const readSealKeys = ({ key, previousKeyFile }: Config['seals']): { key: SealKey; previousKey?: SealKey } => {
  const previous = previousKeyFile === undefined ? {} : { previousKey: read('SEAL_PREVIOUS_KEY_FILE', previousKeyFile) }
  return { key: readKey(key), ...previous }
}

const readKey = (source: Config['seals']['key']): SealKey => {
  if (source.kind === 'given') return parse('SEAL_KEY', source.pem)
  if (source.kind === 'file') return read('SEAL_KEY_FILE', source.path)
  return parse(source.path, readKeptFile(source.path, newKey), { isDevelopment: true })
}

const read = (name: string, path: string): SealKey => {
  try {
    return parse(name, readFileSync(path, 'utf8'))
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError(`${name} cannot be read (${(error as Error).message}).`)
  }
}

const parse = (name: string, pem: string, { isDevelopment = false } = {}): SealKey => {
  try {
    return parseSealKey(pem, { isDevelopment })
  } catch (error) {
    throw new ConfigError(`${name}: ${(error as Error).message}.`)
  }
}

const newKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
