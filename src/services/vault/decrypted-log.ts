import { accountIn } from '../../../schemas/events.ts'
import type { Position, RawEvent } from '../../../schemas/recorded.ts'
import type { EventLog, ReadableLog } from '../../ports/event-log.ts'
import { Damaged, Unavailable } from '../../ports/faults.ts'
import { decrypt } from './cipher.ts'
import { type EncryptedEvent, isEncrypted } from './personal-data.ts'
import type { AccountKey, Vault } from './vault.ts'

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

const decrypted = (event: EncryptedEvent, key: AccountKey): RawEvent => {
  const { personal, ...shown } = event.data
  const stored = event.data
  if (key === 'destroyed') return { ...event, data: shown, stored }
  const bytes = decrypt(key, Buffer.from(personal, 'base64'), event.id)
  if (!bytes)
    throw new Damaged(`${event.stream} holds at revision ${event.revision} data that its key does not decrypt`)
  return { ...event, data: { ...shown, ...JSON.parse(bytes.toString()) }, stored }
}
