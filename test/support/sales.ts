import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { priceList } from './pack-samples.ts'
import { type ServiceOptions, startService } from './service.ts'
import { STRIPE_KEY, type StripeStub, startStripe, WEBHOOK_SECRET } from './stripe/stub.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** The settings of a service that sells the sample packs through a stub of Stripe. */
export const salesEnvironment = async (t: Test, stripe: StripeStub): Promise<Record<string, string>> => {
  const PACKS = join(await temporaryFolder(t), 'packs.json')
  await writeFile(PACKS, JSON.stringify(priceList))
  return { PACKS, STRIPE_SECRET_KEY: STRIPE_KEY, STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET, STRIPE_URL: stripe.url }
}

/** A service that sells credits, and a stub of Stripe that reports to it. */
export const startSales = async (t: Test, { environment, ...options }: ServiceOptions = {}) => {
  const stripe = await startStripe(t)
  const sales = await salesEnvironment(t, stripe)
  const service = await startService(t, { ...options, environment: { ...sales, ...environment } })
  const reports = stripe.sendTo(`${service.url}/callbacks/stripe`)
  return { ...service, stripe, reports }
}
