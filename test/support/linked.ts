import type { RawEvent } from '../../schemas/recorded.ts'
import { makeLink } from './links.ts'

interface Options {
  email?: string
  /** The ledger format of the events. */
  format?: 1 | 2
}

/** The events of `ledgerEvents` as a log holds them: after the opening of their account, and with true links. */
export const linked = (
  events: readonly RawEvent[],
  { email = 'eve@example.com', format = 2 }: Options = {},
): RawEvent[] => {
  const heads = new Map<string, string>()
  const all: RawEvent[] = []
  const add = (event: RawEvent) => {
    const { hash: _, ...rest } = event.metadata as { hash?: string }
    const metadata = { ...rest, ...(format === 2 && { format }) }
    const { link } = makeLink(heads.get(event.stream), { ...event, metadata })
    heads.set(event.stream, link)
    all.push({ ...event, position: all.length, metadata: { ...metadata, hash: link } })
  }
  for (const event of events) {
    if (!heads.has(event.stream)) {
      const data = { accountId: event.stream.slice('account-'.length), email, tester: false }
      add({ ...event, revision: 0, id: crypto.randomUUID(), type: 'AccountOpened', data })
    }
    add(event)
  }
  return all
}
