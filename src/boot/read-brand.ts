import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import type { Environment } from '../../schemas/environment.ts'
import { type Brand, type BrandLogo, colorFault } from '../console/brand.ts'
import { ConfigError } from './config.ts'
import { advice } from './config-values.ts'

/** A logo is a part of every page. */
const MAX_LOGO_BYTES = 256 * 1024

const LOGO_TYPES: Record<string, string> = { '.svg': 'image/svg+xml', '.png': 'image/png', '.webp': 'image/webp' }

/** Reads the look of the service. Throws ConfigError for a logo that cannot be read, or a colour that is too light. */
export const readBrand = ({ SERVICE_NAME, BRAND_LOGO_FILE, BRAND_COLOR }: Environment): Brand => {
  const fault = BRAND_COLOR && colorFault(BRAND_COLOR)
  if (fault) throw new ConfigError(`BRAND_COLOR ${fault}. ${advice('BRAND_COLOR')}`)
  return { name: SERVICE_NAME, logo: BRAND_LOGO_FILE ? readLogo(BRAND_LOGO_FILE) : undefined, color: BRAND_COLOR }
}

const readLogo = (path: string): BrandLogo => {
  const refused = (fault: string) => new ConfigError(`BRAND_LOGO_FILE ${fault}. ${advice('BRAND_LOGO_FILE')}`)
  const type = LOGO_TYPES[extname(path).toLowerCase()]
  if (!type) throw refused(`must end in ${Object.keys(LOGO_TYPES).join(', ')}`)
  let bytes: Uint8Array
  try {
    bytes = readFileSync(path)
  } catch (error) {
    throw refused(`cannot be read: ${(error as Error).message}`)
  }
  if (bytes.byteLength > MAX_LOGO_BYTES) throw refused(`has more than ${MAX_LOGO_BYTES / 1024} KB`)
  return { type, bytes }
}
