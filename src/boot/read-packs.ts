import { readFileSync } from 'node:fs'
import type { Environment } from '../../schemas/environment.ts'
import { PriceList } from '../../schemas/packs.ts'
import { findPacksFault } from '../domain/catalog/packs.ts'
import { compileCheck } from '../services/schema-check.ts'
import { describePacksFault } from '../transports/refusals/sale.ts'
import { ConfigError } from './config.ts'
import { advice } from './config-values.ts'

const check = compileCheck(PriceList)

/** The price list of the configuration; without a file, nothing is for sale. Throws ConfigError. */
export const readPacks = ({ PACKS: path, MANAGED_PAYMENTS }: Environment): PriceList => {
  if (path === undefined) return { packs: [] }
  const read = readPriceList(path)
  if ('fault' in read) throw new ConfigError(`PACKS: ${read.fault}. ${advice('PACKS')}`)
  const untaxed = MANAGED_PAYMENTS ? placeWithoutTaxCode(read.list) : undefined
  if (untaxed === undefined) return read.list
  throw new ConfigError(`PACKS: ${path}: ${untaxed} needs a taxCode, because MANAGED_PAYMENTS is on.`)
}

/** https://docs.stripe.com/payments/managed-payments/eligibility#eligible-tax-codes */
const placeWithoutTaxCode = ({ packs, customAmount }: PriceList): string | undefined => {
  const index = packs.findIndex(({ taxCode }) => taxCode === undefined)
  if (index >= 0) return `/packs/${index}`
  return customAmount && customAmount.taxCode === undefined ? '/customAmount' : undefined
}

/** Reads a file with a price list. */
export const readPriceList = (path: string): { list: PriceList } | { fault: string } => {
  let list: PriceList
  try {
    list = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    const { message } = error as Error
    return {
      fault: error instanceof SyntaxError ? `${path} is not JSON: ${message}` : `${path} cannot be read: ${message}`,
    }
  }
  const [wrong] = check(list)
  if (wrong) return { fault: `${path} is not a price list: ${wrong.path || '/'} ${wrong.message}` }
  const fault = findPacksFault(list)
  return fault ? { fault: `${path} is not a valid price list: ${describePacksFault(fault)}` } : { list }
}
