import { ConfigError } from './config.ts'
import { advice } from './config-values.ts'
import type { Core } from './core.ts'

/** Finds at the start what a statement as PDF would show. Throws ConfigError for a logo that is no picture. */
export const checkBrand = async ({ config: { brand, roles }, logger }: Core) => {
  if (!roles.has('api')) return
  if (brand.logo) {
    const { drawLogo } = await import('../audit/statement/pdf/logo.ts')
    try {
      await drawLogo(brand.logo)
    } catch (error) {
      const { message } = error as Error
      throw new ConfigError(`BRAND_LOGO_FILE cannot be drawn: ${message}. ${advice('BRAND_LOGO_FILE')}`)
    }
  } else if (!ASCII.test(brand.name)) {
    const { canWrite } = await import('../audit/statement/pdf/pdf.ts')
    if (!canWrite(brand.name)) logger.warn({ name: brand.name }, UNWRITABLE)
  }
}

/** Every font has these. */
const ASCII = /^[ -~]*$/

const UNWRITABLE =
  'statements as PDF have no font for SERVICE_NAME and show codes for its letters; set BRAND_LOGO_FILE to show a logo'
