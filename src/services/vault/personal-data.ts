import { accountIn } from '../../../schemas/events.ts'
import { personalFields } from '../../../schemas/personal.ts'
import type { AnyEvent, Position, RawEvent, Upcast } from '../../../schemas/recorded.ts'
import type { Encryption } from '../../engine/streams/stream.ts'
import type { EventLog, ReadableLog } from '../../ports/event-log.ts'
import { Damaged, Unavailable } from '../../ports/faults.ts'
import { decrypt, encrypt } from './cipher.ts'
import type { AccountKey, Vault } from './vault.ts'

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

/** The log with its personal data decrypted, unless the key was destroyed. Reads reject with Damaged if it is lost. */
export const decryptedLog = (log: EventLog, vault: Vault): EventLog => {
  const { pages, ...reads } = readsOf(log, event => decryptedWith(vault, event))
  return {
    ...reads,
    append: (...events) => log.append(...events),
    follow: (...range) => pages(log.follow(...range)),
    ...(log.lastPosition && { lastPosition: log.lastPosition }),
  }
}

/** The log for readers who may lack keys. Without a key, they see placeholders. */
export const decryptedWithKnownKeys = (log: ReadableLog, vault: Vault): ReadableLog => {
  const lacking = new Set<string>()
  const { pages: _, ...reads } = readsOf(log, async event => {
    if (lacking.has(event.stream)) return decrypted(event, 'destroyed')
    try {
      return await decryptedWith(vault, event)
    } catch (error) {
      if (!(error instanceof Damaged || error instanceof Unavailable)) throw error
      lacking.add(event.stream)
      return decrypted(event, 'destroyed')
    }
  })
  return reads
}

const readsOf = (log: ReadableLog, decrypt: (event: EncryptedEvent) => Promise<RawEvent>) => {
  const decryptPage = async (page: RawEvent[]): Promise<RawEvent[]> => {
    if (!page.some(isEncrypted)) return page
    const events: RawEvent[] = []
    for (const event of page) events.push(isEncrypted(event) ? await decrypt(event) : event)
    return events
  }
  async function* pages(stored: AsyncIterable<RawEvent[]>) {
    for await (const page of stored) yield await decryptPage(page)
  }
  return {
    pages,
    readStream: (...range: Parameters<ReadableLog['readStream']>) => pages(log.readStream(...range)),
    readEvent: async (...place: Parameters<ReadableLog['readEvent']>) => {
      const event = await log.readEvent(...place)
      return event && (await decryptPage([event]))[0]
    },
    readAll: (after: Position) => pages(log.readAll(after)),
    head: () => log.head(),
    close: () => log.close(),
  }
}

const decryptedWith = async (vault: Vault, event: EncryptedEvent): Promise<RawEvent> => {
  const accountId = accountIn(event.stream)
  if (accountId === undefined) throw new Damaged(`${event.stream} is no account, and holds personal data`)
  return decrypted(event, vault.known(accountId) ?? (await vault.key(accountId)))
}

/** Leaves out the ciphertext, for readers without keys. */
export const withoutPersonal: Upcast = event => {
  if (!isEncrypted(event)) return undefined
  const { personal: _, ...data } = event.data
  return { type: event.type, data }
}

const decrypted = (event: EncryptedEvent, key: AccountKey): RawEvent => {
  const { personal, ...shown } = event.data
  const stored = event.data
  if (key === 'destroyed') return { ...event, data: shown, stored }
  const bytes = decrypt(key, Buffer.from(personal, 'base64'), event.id)
  if (!bytes)
    throw new Damaged(`${event.stream} holds at revision ${event.revision} data that its key does not decrypt`)
  return { ...event, data: { ...shown, ...JSON.parse(bytes.toString()) }, stored }
}

type EncryptedEvent = RawEvent & { data: Data & { personal: string } }

const isEncrypted = (event: RawEvent): event is EncryptedEvent =>
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
