import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import type { Environment } from '../../schemas/environment.ts'
import { colorFault } from '../console/brand.ts'
import type { Brand, BrandLogo } from '../domain/brand.ts'
import { ConfigError } from './config.ts'
import { advice } from './config-values.ts'

/** A logo is a part of every page. */
const MAX_LOGO_BYTES = 256 * 1024

/** Far more words than anyone reads on a first page. */
const MAX_TEXT_BYTES = 64 * 1024

const LOGO_TYPES: Record<string, string> = { '.svg': 'image/svg+xml', '.png': 'image/png', '.webp': 'image/webp' }

/** Reads how the service presents itself. Throws ConfigError for a file that cannot be used, or a colour too light. */
export const readBrand = ({ SERVICE_NAME, BRAND_LOGO_FILE, BRAND_COLOR, BRAND_TEXT_FILE }: Environment): Brand => {
  const fault = BRAND_COLOR && colorFault(BRAND_COLOR)
  if (fault) throw new ConfigError(`BRAND_COLOR ${fault}. ${advice('BRAND_COLOR')}`)
  return {
    name: SERVICE_NAME,
    logo: BRAND_LOGO_FILE ? readLogo(BRAND_LOGO_FILE) : undefined,
    color: BRAND_COLOR,
    text: BRAND_TEXT_FILE ? readText(BRAND_TEXT_FILE) : undefined,
  }
}

const readLogo = (path: string): BrandLogo => {
  const type = LOGO_TYPES[extname(path).toLowerCase()]
  if (!type) throw refused('BRAND_LOGO_FILE', `must end in ${Object.keys(LOGO_TYPES).join(', ')}`)
  return { type, bytes: readUpTo(MAX_LOGO_BYTES, 'BRAND_LOGO_FILE', path) }
}

const readText = (path: string): string => {
  const bytes = readUpTo(MAX_TEXT_BYTES, 'BRAND_TEXT_FILE', path)
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim()
  } catch {
    throw refused('BRAND_TEXT_FILE', 'is not UTF-8')
  }
  if (!/^# +\S/.test(text))
    throw refused('BRAND_TEXT_FILE', 'must begin with a heading, such as "# Pictures in a second"')
  return text
}

const readUpTo = (maxBytes: number, name: 'BRAND_LOGO_FILE' | 'BRAND_TEXT_FILE', path: string): Uint8Array => {
  let bytes: Uint8Array
  try {
    bytes = readFileSync(path)
  } catch (error) {
    throw refused(name, `cannot be read: ${(error as Error).message}`)
  }
  if (bytes.byteLength > maxBytes) throw refused(name, `has more than ${maxBytes / 1024} KB`)
  return bytes
}

const refused = (name: 'BRAND_LOGO_FILE' | 'BRAND_TEXT_FILE', fault: string) =>
  new ConfigError(`${name} ${fault}. ${advice(name)}`)
