import type { Stripe } from 'stripe'
import { invalid, missingParameter } from './errors.ts'
import type { Parameters } from './form.ts'
import { allow, amountOf, currencyOf, flagOf, metadataOf, requiredText, textOf, within } from './parameters.ts'
import { nulls, type Store } from './store.ts'

/** What https://docs.stripe.com/api/checkout/sessions/create takes and Tollgate sends. */
const KNOWN = [
  ...['mode', 'client_reference_id', 'metadata', 'line_items', 'payment_intent_data', 'customer_email'],
  ...['customer_creation', 'billing_address_collection', 'invoice_creation', 'managed_payments'],
  ...['automatic_tax', 'tax_id_collection', 'success_url', 'cancel_url', 'expires_at', 'expand'],
]

const LEAST_SECONDS = 30 * 60
const MOST_SECONDS = 24 * 60 * 60

/** What a session keeps for the payment, and does not show. */
export interface Hidden {
  intentMetadata: Record<string, string>
  keepsMethod: boolean
  isInclusive: boolean
  name: string
}

interface NewSession {
  session: Stripe.Checkout.Session & { object: 'checkout.session' }
  hidden: Hidden
}

/** https://docs.stripe.com/api/checkout/sessions/object */
export const newSession = (store: Store, given: Parameters, baseUrl: string): NewSession => {
  allow(given, KNOWN)
  if (requiredText(given, 'mode') !== 'payment') throw invalid('The stub only knows the mode payment.')
  const item = itemOf(given)
  const now = store.now()
  const expiresAt = Number(textOf(given, 'expires_at') ?? now + MOST_SECONDS)
  const wrong = (rule: string) => invalid(`The \`expires_at\` timestamp must be ${rule}.`, { param: 'expires_at' })
  if (!(expiresAt >= now + LEAST_SECONDS)) throw wrong('at least 30 minutes from Checkout Session creation')
  if (expiresAt > now + MOST_SECONDS) throw wrong('less than 24 hours from Checkout Session creation')
  const isManaged = flagOf(within(given, 'managed_payments', ['enabled']), 'enabled')
  if (isManaged) checkManaged(given)
  const intentData = within(given, 'payment_intent_data', INTENT_DATA)
  const id = store.idOf('checkout.session')
  const hidden = {
    intentMetadata: metadataOf(intentData),
    keepsMethod: textOf(intentData, 'setup_future_usage') === 'off_session',
    ...{ isInclusive: item.isInclusive, name: item.name },
  }
  const session: NewSession['session'] = {
    ...nulls('adaptive_pricing', 'after_expiration', 'allow_promotion_codes', 'allowed_payment_method_types'),
    ...nulls('client_secret', 'collected_information', 'consent', 'consent_collection', 'currency_conversion'),
    ...nulls('customer_account', 'customer_details', 'discounts', 'integration_identifier', 'invoice', 'locale'),
    ...nulls('origin_context', 'payment_intent', 'payment_link', 'payment_method_collection', 'permissions'),
    ...nulls('payment_method_configuration_details', 'payment_method_options', 'recovered_from', 'setup_intent'),
    ...nulls('saved_payment_method_options', 'shipping_address_collection', 'shipping_cost', 'submit_type'),
    ...nulls('subscription', 'wallet_options'),
    id,
    object: 'checkout.session',
    amount_subtotal: item.amount,
    amount_total: item.amount,
    automatic_tax: {
      enabled: flagOf(within(given, 'automatic_tax', ['enabled']), 'enabled'),
      ...nulls('liability', 'provider', 'status'),
    },
    billing_address_collection: textOf(given, 'billing_address_collection') ?? null,
    cancel_url: textOf(given, 'cancel_url') ?? null,
    client_reference_id: textOf(given, 'client_reference_id') ?? null,
    created: now,
    currency: item.currency,
    custom_fields: [],
    custom_text: { ...nulls('after_submit', 'shipping_address', 'terms_of_service_acceptance'), submit: null },
    customer: null,
    customer_creation: textOf(given, 'customer_creation') === 'always' ? 'always' : 'if_required',
    customer_email: emailOf(given),
    expires_at: expiresAt,
    invoice_creation: {
      enabled: isManaged || flagOf(within(given, 'invoice_creation', ['enabled']), 'enabled'),
      invoice_data: {
        ...nulls('account_tax_ids', 'custom_fields', 'description', 'footer', 'issuer', 'rendering_options'),
        metadata: {},
      },
    },
    livemode: store.isLive,
    managed_payments: { enabled: isManaged },
    metadata: metadataOf(given),
    mode: 'payment',
    payment_method_types: ['card'],
    payment_status: item.amount === 0 ? 'no_payment_required' : 'unpaid',
    shipping_options: [],
    status: 'open',
    success_url: requiredText(given, 'success_url'),
    tax_id_collection: {
      enabled: flagOf(within(given, 'tax_id_collection', ['enabled']), 'enabled'),
      required: 'never',
    },
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    ui_mode: 'hosted_page',
    url: `${baseUrl}/c/pay/${id}`,
  }
  return { session, hidden }
}

/** https://docs.stripe.com/payments/managed-payments/update-checkout: the tax code, and unsupported parameters. */
const checkManaged = (given: Parameters) => {
  const { setup_future_usage } = within(given, 'payment_intent_data', INTENT_DATA)
  const refused = {
    ...{ automatic_tax: given['automatic_tax'], tax_id_collection: given['tax_id_collection'] },
    invoice_creation: given['invoice_creation'],
    'payment_intent_data[setup_future_usage]': setup_future_usage,
  }
  for (const [param, value] of Object.entries(refused))
    if (value !== undefined) throw invalid(`${param} cannot be used with Managed Payments.`, { param })
  const [item = {}] = (given['line_items'] ?? []) as Parameters[]
  const { product_data = {} } = (item['price_data'] ?? {}) as Parameters
  requiredText(product_data as Parameters, 'tax_code')
}

const INTENT_DATA = ['metadata', 'setup_future_usage']

const itemOf = (given: Parameters) => {
  const [item, ...more] = (given['line_items'] ?? []) as Parameters[]
  if (!item) throw missingParameter('line_items')
  if (more.length > 0 || textOf(item, 'quantity') !== '1') throw invalid('The stub only knows one item.')
  allow(item, ['price_data', 'quantity'], 'line_items[0]')
  const price = within(item, 'price_data', ['currency', 'unit_amount', 'tax_behavior', 'product_data'])
  const product = within(price, 'product_data', ['name', 'tax_code'])
  const currency = currencyOf(price)
  return {
    currency,
    amount: amountOf(price, 'unit_amount', currency),
    name: requiredText(product, 'name'),
    isInclusive: textOf(price, 'tax_behavior') === 'inclusive',
  }
}

/** https://docs.stripe.com/error-codes#email-invalid */
const emailOf = (given: Parameters): string | null => {
  const email = textOf(given, 'customer_email') ?? null
  if (email !== null && !/^[^@\s]+@[^@\s]+\.[^@\s.]+$/.test(email))
    throw invalid(`Invalid email address: ${email}`, { code: 'email_invalid', param: 'customer_email' })
  return email
}
