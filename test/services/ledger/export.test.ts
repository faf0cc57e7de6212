import t from 'tap'
import { lineKey, linePlace } from '../../../projections/statement.ts'
import type { StatementRow } from '../../../schemas/views.ts'
import { BY_KEY, type Range } from '../../../src/ports/view-store.ts'
import { Ledger } from '../../../src/services/ledger/ledger.ts'
import type { Reads } from '../../../src/services/views/reads.ts'
import { accountId, keyId } from '../../support/account-samples.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { unwrap } from '../../support/unwrap.ts'

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

const timeOf = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString()

t.test(
  'lines that are written during an export of a period hide none that was there, if a clock went back',
  async t => {
    const lines = upTo(60).map(revision => ({ revision, at: timeOf(1000 + revision), kind: 'grant' }))
    const list = async (_view: string, index: string, { prefix, after, before, newestFirst, limit }: Range) => {
      const entries = lines.map(line => {
        const row = line as StatementRow
        const key = lineKey(accountId(), row.revision)
        return { place: index === BY_KEY ? key : linePlace(accountId(), row.at, row.revision), key, row }
      })
      const [low, high] = newestFirst ? [before, after] : [after, before]
      const found = entries.filter(
        ({ place }) => place.startsWith(prefix) && (!low || place > low) && (!high || place < high),
      )
      return found.toSorted((a, b) => (a.place < b.place === !newestFirst ? -1 : 1)).slice(0, limit)
    }
    const reads = { list, ownWrites: async () => undefined } as unknown as Reads
    const clock = new ManualClock()
    const accounts = { recentState: async () => ({ activeKeys: new Map([[keyId(), {}]]) }) }
    const ledger = new Ledger({ reads, clock, accounts } as unknown as ConstructorParameters<typeof Ledger>[0])
    const caller = { kind: 'operator', name: 'Ada', accountId: accountId(), keyId: keyId() }
    const found: number[] = []
    const client = { nextTurn: async () => undefined, signal: new AbortController().signal }
    for await (const part of unwrap(await ledger.export(caller as never, { from: timeOf(1) }, client))) {
      found.push(...part.map(({ line }) => line.revision))
      // After the first part, whose last time is later than theirs, and before the others.
      if (lines.length === 60)
        for (const revision of upTo(30)) lines.push({ revision: 60 + revision, at: timeOf(1040), kind: 'grant' })
    }
    t.same(
      found,
      lines.slice(0, 60).map(({ revision }) => revision),
    )
  },
)
