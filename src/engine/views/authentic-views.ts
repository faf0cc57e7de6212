import { hash } from 'node:crypto'
import type { Entry, Range, RowAddress, RowChange, StoredViews, ViewStore } from '../../ports/view-store.ts'
import type { ProjectionSet } from './project.ts'

/**
 * Characters of a MAC: 132 bits, which cannot be guessed and take little room in a row. Cutting the hash also prevents
 * its extension to longer texts, so a hash over key and text is enough; an HMAC takes four times as long.
 */
const MAC_LENGTH = 22

export interface AuthenticViewsDependencies {
  store: StoredViews
  projections: ProjectionSet
  /** Authenticates rows, so that write access to the store cannot change responses. */
  key: Uint8Array
  onForged: (address: RowAddress) => void
}

/** What `sign` adds to the text of a row, which ends with `}`: the MAC as the last member. */
const [BEFORE_MAC, AFTER_MAC] = [',"mac":"', '"}']
const ADDED_LENGTH = BEFORE_MAC.length + MAC_LENGTH + AFTER_MAC.length

/**
 * Views with rows that carry a MAC over their address and text. Rows with a wrong MAC or in a wrong place of an index
 * are reported and treated as absent, or as null where many are read. Dumps and rebuilds see rows with MACs.
 */
export const authenticViews = ({ store, projections, key, onForged }: AuthenticViewsDependencies): ViewStore => {
  const keyText = Buffer.from(key).toString('base64')

  const macOf = ({ view, key: rowKey }: RowAddress, text: string): string =>
    hash('sha256', `${keyText}${view}/${rowKey}\n${text}`, 'base64url').slice(0, MAC_LENGTH)

  const sign = ({ view, key: rowKey, row }: RowChange): RowChange<string> => {
    if (!row) return { view, key: rowKey, row: undefined }
    const text = JSON.stringify(row)
    const mac = macOf({ view, key: rowKey }, text)
    return { view, key: rowKey, row: text.slice(0, -1) + BEFORE_MAC + mac + AFTER_MAC }
  }

  const verify = <Row>(address: RowAddress, signed: string | undefined): Row | undefined => {
    if (signed === undefined) return undefined
    const text = `${signed.slice(0, -ADDED_LENGTH)}}`
    // Comparison need not take constant time: a forger cannot time this process.
    if (signed.slice(text.length - 1) === BEFORE_MAC + macOf(address, text) + AFTER_MAC) return JSON.parse(text)
    onForged(address)
    return undefined
  }

  return {
    ...store,
    get: async <Row>(view: string, rowKey: string) => verify<Row>({ view, key: rowKey }, await store.get(view, rowKey)),
    getMany: async <Row>(addresses: RowAddress[]) => {
      const { position, rows } = await store.getMany(addresses)
      const verified = rows.map((row, index) =>
        row === undefined ? undefined : (verify<Row>(addresses[index] as RowAddress, row) ?? null),
      )
      return { position, rows: verified }
    },
    list: async <Row>(view: string, index: string, range: Range) => {
      const entries: Entry<Row>[] = []
      // Absent rows do not count, so that a forged one does not end a list early.
      for (let { after, limit } = range; limit > 0; limit = range.limit - entries.length) {
        const page = await store.list(view, index, { ...range, after, limit })
        for (const { place, key: rowKey, row: signed } of page) {
          after = place
          // An entry without a row is forged.
          const row = verify<Row>({ view, key: rowKey }, signed ?? '')
          if (row === undefined) continue
          if (projections.hasPlace(view, index, { place, key: rowKey, row: row as object }))
            entries.push({ place, key: rowKey, row })
          else onForged({ view, key: rowKey })
        }
        if (page.length < limit) break
      }
      return entries
    },
    commit: batch => store.commit({ ...batch, rows: batch.rows.map(sign) }),
  }
}
