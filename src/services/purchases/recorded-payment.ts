import type { PurchaseId } from '../../../schemas/primitives.ts'
import { MAX_ADDRESS_LINE_LENGTH, type PurchasePaid } from '../../../schemas/purchase-events.ts'
import type { Address, PaymentFacts } from '../../ports/payments.ts'
import type { Caller } from '../caller.ts'

/** Records what no client has requested, such as a report of the payment service. */
export const SERVICE: Caller = { kind: 'service' }

/** A payment as the log records it. Nothing that the customer typed may prevent that. */
export const recordedPayment = (
  purchaseId: PurchaseId,
  { paymentId, money, tax, country, address, cardCountry, hasTaxId, customerId, invoiceId }: PaymentFacts,
): PurchasePaid => ({
  ...{ purchaseId, paymentId, ...money },
  ...(Number(tax.amount) > 0 && { tax: tax.amount }),
  ...(isCountry(country) && { country }),
  ...(address && { address: shortened(address) }),
  ...((isCountry(cardCountry) || hasTaxId) && {
    evidence: { ...(isCountry(cardCountry) && { cardCountry }), ...(hasTaxId && { taxId: true as const }) },
  }),
  ...(customerId !== undefined && { customer: customerId }),
  ...(invoiceId !== undefined && { invoice: invoiceId }),
})

const isCountry = (text: string | undefined): text is string => text !== undefined && /^[A-Z]{2}$/.test(text)

const shortened = (address: Address): Record<string, string> =>
  Object.fromEntries(
    Object.entries(address).map(([name, line]) => [name, line.slice(0, MAX_ADDRESS_LINE_LENGTH).toWellFormed()]),
  )
