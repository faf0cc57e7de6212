import type { Stripe } from 'stripe'
import { Unavailable } from '../../ports/faults.ts'
import {
  type Checkout,
  PaymentRefused,
  type PaymentReport,
  type Payments,
  type Refund,
  ReportUnreadable,
} from '../../ports/payments.ts'
import { chargeParameters, outcomeOf, refusalOf, TOP_UP } from './charges.ts'
import { checkoutParameters, type TaxOptions } from './checkouts.ts'
import { isMissing, isStripeError, translated } from './failures.ts'
import { toMinorUnits, unfit } from './minor-units.ts'
import { checkoutOf, disputeOf, EXPANDED, FEE, feeOf, metadataOf, purchaseOf, refundOf } from './objects.ts'
import { reportOf } from './reports.ts'
import { signedEvent } from './signatures.ts'

/** Stripe asks a bank in the meantime, which takes seconds. A browser waits for two attempts. */
const TIMEOUT_MS = 15_000

/** After a connection that broke, a conflict or a fault at Stripe, with the same idempotency key. */
const MAX_RETRIES = 1

/** The most that Stripe lists at a time: https://docs.stripe.com/api/pagination */
const PAGE = 100

/** Refunds of one payment. Nobody makes more. */
const MAX_REFUNDS = 1000

/** The headers that the API needs. The package would also send facts about this machine. */
const HEADERS = ['accept', 'authorization', 'content-type', 'idempotency-key', 'stripe-version']

export interface StripeOptions extends TaxOptions {
  secretKey: string
  /** One, or two while the secret is changed. */
  webhookSecrets: readonly string[]
  /** Another server in place of Stripe, for tests. */
  url?: string | undefined
  /** Reaches Stripe through a proxy. */
  fetch?: typeof fetch | undefined
  timeoutMs?: number
}

/** Payments through Stripe Checkout. */
export const openStripe = async (options: StripeOptions): Promise<Payments> => {
  const { secretKey, webhookSecrets, url, fetch: send = fetch, timeoutMs = TIMEOUT_MS } = options
  const { Stripe } = await import('stripe')
  const stripe = new Stripe(secretKey, {
    ...(url !== undefined && addressOf(url)),
    httpClient: Stripe.createFetchHttpClient(lean(send)),
    timeout: timeoutMs,
    maxNetworkRetries: MAX_RETRIES,
    // The package would also keep a file with an id in the home folder.
    telemetry: false,
  })
  const isLive = /^\w+_live_/.test(secretKey)

  return {
    unfit,
    isTest: !isLive,
    chargesKeptMethods: !options.managedPayments && !options.automaticTax,

    check: async () => {
      // A restricted key that may sell may read this, and maybe nothing else.
      await call(() => stripe.checkout.sessions.list({ limit: 1 }))
    },

    open: async checkout => {
      const create = (given: Checkout) => {
        const parameters = checkoutParameters(given, options)
        return call(() => stripe.checkout.sessions.create(parameters, { idempotencyKey: checkout.purchaseId }))
      }
      const session = await create(checkout).catch(error => {
        // The page asks for an address that Stripe takes. The key stays free, since nothing was begun.
        if (!(error instanceof PaymentRefused) || error.code !== 'email_invalid') throw error
        return create({ ...checkout, email: undefined })
      })
      return { sessionId: session.id, url: session.url ?? undefined, expiresAtMs: session.expires_at * 1000 }
    },

    find: async sessionId => {
      const session = await existing(sessionId, () =>
        stripe.checkout.sessions.retrieve(sessionId, { expand: EXPANDED }),
      )
      return session && checkoutOf(session)
    },

    refund: async request => {
      const { refundKey, paymentId, money } = request
      const parameters = {
        payment_intent: paymentId,
        amount: toMinorUnits(money),
        metadata: { ...metadataOf(request), refund: refundKey },
      }
      return present(refundOf(await call(() => stripe.refunds.create(parameters, { idempotencyKey: refundKey }))))
    },

    refundsOf: async paymentId => {
      const found: Refund[] = []
      let after: string | undefined
      do {
        const place = { payment_intent: paymentId, limit: PAGE, ...(after !== undefined && { starting_after: after }) }
        const page = await call(() => stripe.refunds.list(place))
        found.push(...page.data.flatMap(refund => refundOf(refund) ?? []))
        after = page.has_more ? page.data.at(-1)?.id : undefined
      } while (after !== undefined && found.length < MAX_REFUNDS)
      return found
    },

    findDispute: async disputeId => {
      const dispute = await existing(disputeId, () => stripe.disputes.retrieve(disputeId))
      return dispute && disputeOf(dispute)
    },

    charge: async charge => {
      const parameters = chargeParameters(charge)
      try {
        const made = stripe.paymentIntents.create(parameters, { idempotencyKey: charge.chargeKey })
        return outcomeOf(ofStripe(await made))
      } catch (error) {
        if (isStripeError(error) && error.type === 'StripeCardError') return refusalOf(error)
        throw translated(error)
      }
    },

    findCharge: async (customer, chargeKey) => {
      const page = await call(() => stripe.paymentIntents.list({ customer, limit: PAGE }))
      const made = page.data.find(({ metadata }) => metadata[TOP_UP] === chargeKey)
      return made && outcomeOf(made)
    },

    paymentOf: async paymentId => {
      const intent = await existing(paymentId, () => stripe.paymentIntents.retrieve(paymentId, { expand: [FEE] }))
      const purchase = purchaseOf(intent?.metadata)
      return intent && purchase && { ...purchase, fee: feeOf(intent) }
    },

    read: async (body, signature) => {
      const event = await signedEvent(stripe.webhooks, body, signature, webhookSecrets)
      return event && event.livemode === isLive ? readableReport(event) : undefined
    },
  }
}

/** An event of another version of the API may lack what the types of the package promise. */
const readableReport = (event: Stripe.Event): PaymentReport | undefined => {
  try {
    return reportOf(event)
  } catch (cause) {
    throw new ReportUnreadable(event.id, { cause })
  }
}

const addressOf = (text: string) => {
  const { protocol, hostname, port } = new URL(text)
  const isPlain = protocol === 'http:'
  return { protocol: isPlain ? 'http' : 'https', host: hostname, port: port || (isPlain ? 80 : 443) } as const
}

/** Follows no redirect, since the key would be sent along. */
const lean =
  (send: typeof fetch): typeof fetch =>
  (input, init) => {
    const headers = [...new Headers(init?.headers)].filter(([name]) => HEADERS.includes(name))
    return send(input, { ...init, redirect: 'error', headers: [...headers, ['user-agent', 'Tollgate']] })
  }

const call = async <Result extends object>(make: () => Promise<Result>): Promise<Result> => {
  try {
    return ofStripe(await make())
  } catch (error) {
    throw translated(error)
  }
}

/** Undefined if Stripe has no such object. The id may come from a browser, and must not become another path. */
const existing = async <Result extends object>(
  id: string,
  make: () => Promise<Result>,
): Promise<Result | undefined> => {
  if (!/^\w{1,255}$/.test(id)) return undefined
  try {
    return ofStripe(await make())
  } catch (error) {
    if (isMissing(error)) return undefined
    throw translated(error)
  }
}

/** The package takes any JSON without `error` for a success, even with status 503 from something between. */
const ofStripe = <Result extends object>(result: Result): Result => {
  if (typeof result === 'object' && 'object' in result) return result
  throw new Unavailable('Stripe does not answer: something else does')
}

const present = <Value>(value: Value | undefined): Value => {
  if (value === undefined) throw new Unavailable('Stripe answered with a refund of no payment')
  return value
}
