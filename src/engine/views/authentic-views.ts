import { hash } from 'node:crypto'
import type { Entry, Range, RowAddress, RowChange, ViewStore } from '../../ports/view-store.ts'
import type { ProjectionSet } from './project.ts'

/**
 * Characters of a MAC: 132 bits, which cannot be guessed and take little room in a row. Cutting the hash also prevents
 * its extension to longer texts, so a hash over key and text is enough; an HMAC takes four times as long.
 */
const MAC_LENGTH = 22

export interface AuthenticViewsDependencies {
  store: ViewStore
  projections: ProjectionSet
  /** Authenticates rows, so that write access to the store cannot change responses. */
  key: Uint8Array
  onForged: (address: RowAddress) => void
}

interface Signed {
  mac?: string
}

/**
 * A view store whose rows carry a MAC over their address and contents. Rows with a wrong MAC or in a wrong place of an
 * index are reported and treated as absent, or as null where many are read. Dumps and rebuilds see rows with MACs.
 */
export const authenticViews = ({ store, projections, key, onForged }: AuthenticViewsDependencies): ViewStore => {
  const keyText = Buffer.from(key).toString('base64')

  const macOf = ({ view, key: rowKey }: RowAddress, row: object): string =>
    hash('sha256', `${keyText}${view}/${rowKey}\n${JSON.stringify(row)}`, 'base64url').slice(0, MAC_LENGTH)

  const sign = ({ view, key: rowKey, row }: RowChange): RowChange => ({
    view,
    key: rowKey,
    row: row && { ...row, mac: macOf({ view, key: rowKey }, row) },
  })

  const verify = <Row>(address: RowAddress, signed: (Row & Signed) | undefined | null): Row | undefined => {
    if (signed === undefined) return undefined
    const { mac, ...row }: Signed = signed ?? {}
    // Comparison need not take constant time: a forger cannot time this process.
    if (mac === macOf(address, row)) return row as Row
    onForged(address)
    return undefined
  }

  return {
    ...store,
    get: async <Row>(view: string, rowKey: string) =>
      verify({ view, key: rowKey }, await store.get<Row & Signed>(view, rowKey)),
    getMany: async <Row>(addresses: RowAddress[]) => {
      const { position, rows } = await store.getMany<Row & Signed>(addresses)
      const verified = rows.map((row, index) =>
        row === undefined ? undefined : (verify(addresses[index] as RowAddress, row) ?? null),
      )
      return { position, rows: verified }
    },
    list: async <Row>(view: string, index: string, range: Range) => {
      const entries: Entry<Row>[] = []
      // Absent rows do not count, so that a forged one does not end a list early.
      for (let { after, limit } = range; limit > 0; limit = range.limit - entries.length) {
        const page = await store.list<Row & Signed>(view, index, { ...range, after, limit })
        for (const { place, key: rowKey, row: signed } of page) {
          after = place
          const row = verify({ view, key: rowKey }, signed)
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
