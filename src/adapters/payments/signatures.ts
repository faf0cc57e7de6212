import type { Stripe } from 'stripe'
import { SignatureInvalid } from '../../ports/payments.ts'

/** The oldest signature that counts, as Stripe advises: https://docs.stripe.com/webhooks/signature */
const TOLERANCE_SECONDS = 300

/**
 * The event in the body of a webhook, whose signature covers each byte: https://docs.stripe.com/webhooks/signature
 * Undefined for a body that is signed and no event. Rejects with SignatureInvalid if no secret has signed it.
 */
export const signedEvent = async (
  webhooks: Stripe['webhooks'],
  body: Buffer,
  signature: string | undefined,
  secrets: readonly string[],
): Promise<Stripe.Event | undefined> => {
  const faults: Fault[] = []
  for (const secret of secrets) {
    try {
      return await webhooks.constructEventAsync(body, signature ?? '', secret, TOLERANCE_SECONDS)
    } catch (error) {
      const { type, message } = error as { type?: string; message: string }
      if (type !== 'StripeSignatureVerificationError') return undefined
      faults.push(faultOf(message))
    }
  }
  throw new SignatureInvalid(ORDER.find(fault => faults.includes(fault)) ?? 'missing')
}

type Fault = SignatureInvalid['fault']

/** The most specific fault first: only a signature that is right can be too old. */
const ORDER: Fault[] = ['old', 'forged', 'missing']

/** The package tells faults apart by their text only. */
const faultOf = (message: string): Fault => {
  if (message.startsWith('Timestamp outside')) return 'old'
  return message.startsWith('No signatures found matching') ? 'forged' : 'missing'
}
