import { accountIn } from '../../../schemas/events.ts'
import { personalFields } from '../../../schemas/personal.ts'
import type { AnyEvent, RawEvent, Upcast } from '../../../schemas/recorded.ts'
import type { Encryption } from '../../engine/streams/stream.ts'
import { encrypt } from './cipher.ts'
import type { Vault } from './vault.ts'

// The log holds personal data encrypted: `personal` is the ciphertext of the fields, in Base64, and placeholders stand
// for them. Without the key, the placeholders remain. See `docs/ledger-format.md`, "Personal data".

/** The first ledger format with encrypted data. An account has a key since its first event in this format. */
const FIRST_FORMAT = 4

type Data = Record<string, unknown>

/** Encrypts the personal data of accounts. */
export const encryptionWith = (vault: Vault): Encryption => ({
  ready: (stream, format) => {
    const accountId = accountIn(stream)
    if (accountId === undefined || vault.known(accountId)) return undefined
    // In place of a key that was lost, another one would hide the loss until a backup overwrites it.
    return format < FIRST_FORMAT ? vault.create(accountId) : vault.key(accountId)
  },
  encrypt: event => {
    const { shown, personal } = split(event)
    if (!personal) return event.data
    const accountId = accountIn(event.stream)
    const key = accountId && vault.known(accountId)
    if (!key || key === 'destroyed') throw new Error(`${event.stream} has no key for the personal data of an event`)
    const ciphertext = encrypt(key, Buffer.from(JSON.stringify(personal)), event.id, vault.random)
    return { ...shown, personal: ciphertext.toString('base64') }
  },
})

/** Leaves out the ciphertext, for readers without keys. */
export const withoutPersonal: Upcast = event => {
  if (!isEncrypted(event)) return undefined
  const { personal: _, ...data } = event.data
  return { type: event.type, data }
}

/** An event as the log holds it, with `personal`. */
export type EncryptedEvent = RawEvent & { data: Data & { personal: string } }

export const isEncrypted = (event: RawEvent): event is EncryptedEvent =>
  typeof (event.data as { personal?: unknown } | null)?.personal === 'string'

/** The data of an event in the clear, and the fields that it lacks. */
const split = ({ type, data }: AnyEvent): { shown: Data; personal?: Data } => {
  const shown = { ...(data as Data) }
  const personal: Data = {}
  for (const [field, placeholderOf] of Object.entries<(value: never) => unknown>(personalFields[type as never] ?? {})) {
    const value = shown[field]
    const placeholder = value === undefined ? value : placeholderOf(value as never)
    if (placeholder === value) continue
    personal[field] = value
    if (placeholder === undefined) delete shown[field]
    else shown[field] = placeholder
  }
  return Object.keys(personal).length > 0 ? { shown, personal } : { shown }
}
