import { readFileSync } from 'node:fs'
import { Environment } from '../../schemas/environment.ts'
import { ConfigError } from './config.ts'

type Variables = Record<string, string | undefined>

/** Even an invalid value may be a secret. */
export const isSecret = (name: string): boolean =>
  name.endsWith('_SECRET') ||
  /_(API_KEY|API_TOKEN|SECRET_KEY)$|^FAL_KEY$/.test(name) ||
  name === 'SEAL_KEY' ||
  name === 'SEAL_SINK' ||
  name === 'SMTP_URL' ||
  name === 'HTTPS_PROXY' ||
  name.endsWith('_STORE_URL')

/**
 * The secrets in files that variables such as MASTER_SECRET_FILE name: Docker, Kubernetes and systemd pass secrets as
 * files. SEAL_KEY_FILE is a setting of its own, since the path of the key matters.
 */
export const readSecretFiles = (variables: Variables): Record<string, string> =>
  Object.fromEntries(
    Object.keys(Environment.properties)
      .filter(name => isSecret(name) && name !== 'SEAL_KEY')
      .flatMap(name => {
        const path = variables[`${name}_FILE`]
        if (!path) return []
        if (variables[name]) throw new ConfigError(`Set ${name} or ${name}_FILE, not both.`)
        return [[name, readSecret(name, path)]]
      }),
  )

const readSecret = (name: string, path: string): string => {
  try {
    return readFileSync(path, 'utf8').trimEnd()
  } catch (error) {
    throw new ConfigError(`${name}_FILE must name a readable file: ${(error as Error).message}`)
  }
}
