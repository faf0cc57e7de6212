import t from 'tap'
import { MAX_CHARGE_LINES } from '../../../schemas/api/charge.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import type { Range } from '../../../src/ports/view-store.ts'
import { Charges } from '../../../src/services/ledger/charges.ts'
import type { Reads } from '../../../src/services/views/reads.ts'
import { accountId, debited, keyId, runId } from '../../support/account-samples.ts'

const owner = { kind: 'key', accountId: accountId(), keyId: keyId(), scope: 'full' } as const

/** Charges of a run whose line names an event of the log. */
const chargesOf = (event: object | undefined) => {
  const asked: Range[] = []
  const reads = {
    getOwn: async () => ({ runId: runId() }),
    list: async (_view: string, _index: string, range: Range) => {
      asked.push(range)
      return [{ row: { kind: 'debit', revision: 3 } }]
    },
    missing: () => new Unavailable('a row is missing'),
  } as unknown as Reads
  const log = { readEvent: async () => event as never }
  return { asked, charges: new Charges({ reads, log }) }
}

const raw = ({ run = 1 } = {}) => ({
  ...debited(10, { run, after: 0 }),
  ...{ id: '93a5b6c7-d8e9-4fa0-9b2c-3d4e5f607182', stream: `account-${accountId()}`, revision: 3, position: 3 },
  metadata: { format: 2, at: '2026-01-01T00:00:00.000Z', actor: { kind: 'reactor' }, hash: '0'.repeat(64) },
})

t.test('a charge reads a bounded number of lines', async t => {
  const { asked, charges } = chargesOf(raw())
  t.match(await charges.explain(owner, runId()), { value: { receipt: { totalMicros: 10_000_000 } } })
  t.match(asked, [{ prefix: `${accountId()}/${runId()}/`, limit: MAX_CHARGE_LINES }])
})

t.test('a line that the log does not confirm explains nothing', async t => {
  for (const event of [undefined, raw({ run: 2 })])
    await t.rejects(chargesOf(event).charges.explain(owner, runId()), Unavailable)
})
