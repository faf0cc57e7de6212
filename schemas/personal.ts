import type { AccountEvent, Idempotency, RunOutput } from './account-events.ts'
import type { Identity } from './identity.ts'
import type { NoticeSettings } from './notice-events.ts'

/** The placeholder of a personal text, which the log holds encrypted beside it. */
export const PRIVATE = 'private'

/** The placeholder of a URL. The domain can never exist (RFC 2606, section 2). */
export const PRIVATE_URL = 'https://private.invalid/'

type PersonalFields = {
  [Type in AccountEvent['type']]?: {
    [Field in FieldsOf<DataOf<Type>>]?: (value: NonNullable<ValueOf<DataOf<Type>, Field>>) => unknown
  }
}
type DataOf<Type> = Extract<AccountEvent, { type: Type }>['data']
type FieldsOf<Data> = Data extends unknown ? keyof Data : never
type ValueOf<Data, Field> = Data extends unknown ? (Field extends keyof Data ? Data[Field] : never) : never

const url = () => PRIVATE_URL
const absent = () => undefined

const identity = ({ kind }: Identity): Identity =>
  kind === 'email' ? { kind, address: PRIVATE } : { kind, subject: PRIVATE }

const withoutUrl = <Addressed extends Pick<NoticeSettings, 'url'>>(value: Addressed): Addressed =>
  value.url === undefined ? value : { ...value, url: PRIVATE_URL }

const withoutAnswer = (output: RunOutput): RunOutput => {
  const { text, toolCalls, ...others } = output
  return text === undefined && toolCalls === undefined ? output : others
}

/** A short request could be guessed from its digest. */
const idempotency = ({ key }: Idempotency): Idempotency => ({ key, requestHash: '0'.repeat(64) })

const request = { input: () => ({}), metadata: absent, webhookUrl: url, idempotency }

/**
 * The fields of events that hold personal data, which the log holds encrypted, with their placeholders. A placeholder
 * must be valid, and fold into the same credits and the same work.
 */
export const personalFields: PersonalFields = {
  AccountOpened: { email: () => PRIVATE, identity, notices: withoutUrl },
  IdentityLinked: { identity },
  SessionOpened: { place: absent },
  RunQueued: request,
  RunStarted: request,
  RunCompleted: { output: withoutAnswer },
  WebhookRedeliveryRequested: { url },
  WebhookTestRequested: { url },
  NoticesSet: { url },
  NoticeRaised: { to: withoutUrl },
  PurchasePaid: { address: absent },
  UploadGranted: { filename: () => PRIVATE, folderPath: absent },
}
