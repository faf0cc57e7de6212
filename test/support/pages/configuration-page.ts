import { Environment } from '../../../schemas/environment.ts'
import { table } from './table.ts'

type Variable = keyof Environment

/** What a schema says of a variable, as far as the page shows it. */
interface Shape {
  description: string
  type?: string
  enum?: string[]
  default?: unknown
  minimum?: number
  exclusiveMinimum?: number
  maximum?: number
}

const introduction = `# Configuration

Tollgate reads its settings from environment variables and checks them at start: a wrong value ends the start with a
message. \`npm run docs:pages\` writes this page from [schemas/environment.ts](../schemas/environment.ts).

A secret or the URL of a store can also be in a file, as Docker, Kubernetes and systemd pass secrets: for example,
\`MASTER_SECRET_FILE=/run/secrets/master-secret\` instead of \`MASTER_SECRET\`. This applies to names that end in
\`_STORE_URL\`, \`_SECRET\`, \`_SECRET_KEY\`, \`_API_KEY\` or \`_API_TOKEN\`, and to \`FAL_KEY\`, \`SMTP_URL\`,
\`SEAL_SINK\` and \`HTTPS_PROXY\`.
`

/** The title and introduction of each section, by its first variable. */
const sections: Partial<Record<Variable, [string, string]>> = {
  PORT: ['The process', 'See [Roles](cluster.md#roles) and [TLS and proxies](network.md#tls-and-proxies).'],
  EVENT_STORE_URL: ['Stores', 'See [The stores](cluster.md#the-stores).'],
  UPLOAD_GRANT_MINUTES: ['Files', 'See [Uploads](uploads.md).'],
  MASTER_SECRET: [
    'Secrets and seals',
    [
      'Read [The master secret](operations.md#the-master-secret) before you change it, and',
      '[The key that signs seals](sealing.md#the-key-that-signs-seals).',
    ].join('\n'),
  ],
  OPENAI_API_KEY: ['Providers', 'A key turns its provider on. See [Providers](providers.md).'],
  MAX_CONNECTIONS: ['Connections', 'See [TLS and proxies](network.md#tls-and-proxies).'],
  REQUESTS_PER_MINUTE_PER_KEY: ['Limits of accounts', 'See [Limits](accounts.md#limits).'],
  ALLOW_PRIVATE_WEBHOOKS: [
    'Addresses that the service reaches',
    'See [A proxy to the internet](network.md#a-proxy-to-the-internet).',
  ],
  SERVICE_NAME: ['The name and look of the service', 'See [Your name and look](operations.md#your-name-and-look).'],
  PUBLIC_DESCRIPTORS: [
    'The API and its prices',
    'See [Prices that follow from costs](providers.md#prices-that-follow-from-costs).',
  ],
  WELCOME_CREDITS: ['Registration and mail', 'See [Registration and mail](registration.md).'],
  STRIPE_SECRET_KEY: [
    'Payments',
    [
      'A key of Stripe turns sales on. The webhook endpoint at Stripe has the URL `PUBLIC_URL/callbacks/stripe` and gets',
      'these kinds of events: `checkout.session.completed`, `checkout.session.async_payment_succeeded`,',
      '`checkout.session.async_payment_failed`, `checkout.session.expired`, `payment_intent.succeeded`,',
      '`payment_intent.payment_failed`, `refund.created`, `refund.updated`, `refund.failed`, `charge.dispute.created`,',
      '`charge.dispute.updated`, `charge.dispute.closed`, `charge.dispute.funds_withdrawn` and',
      '`charge.dispute.funds_reinstated`. A restricted key needs to write Checkout Sessions, Payment Intents and Refunds,',
      'and to read Disputes, Charges, Balance Transactions and Invoices.',
    ].join('\n'),
  ],
  METRICS_PORT: ['Metrics', 'See [Monitoring](operations.md#monitoring).'],
  LOG_LEVEL: ['Logging', 'See [Log lines](outages.md#monitoring).'],
}

const rowOf = (name: string, shape: Shape): string[] => [
  `\`${name}\``,
  shape.default === undefined ? '' : `\`${shape.default}\``,
  valuesOf(shape),
  shape.description,
]

/** The values that a variable may have, if they are few or in a range. */
const valuesOf = ({ type, enum: choices, minimum, exclusiveMinimum, maximum }: Shape): string => {
  if (choices) return choices.map(choice => `\`${choice}\``).join(', ')
  if (type === 'boolean') return '`true`, `false`'
  if (exclusiveMinimum !== undefined)
    return `more than ${exclusiveMinimum}${maximum === undefined ? '' : `, up to ${maximum}`}`
  if (minimum === undefined) return ''
  return maximum === undefined ? `${minimum} or more` : `${minimum} to ${maximum}`
}

/** The page about all settings, in Markdown. */
export const configurationPage = (): string => {
  const parts: string[] = [introduction]
  let rows: string[][] = []
  const finish = () => {
    if (rows.length > 0) parts.push(`${table(['variable', 'default', 'values', 'meaning'], rows)}\n`)
    rows = []
  }
  for (const [name, shape] of Object.entries(Environment.properties)) {
    const section = sections[name as Variable]
    if (section) {
      finish()
      parts.push(`## ${section[0]}\n\n${section[1]}\n`)
    }
    rows.push(rowOf(name, shape as Shape))
  }
  finish()
  return parts.join('\n')
}
