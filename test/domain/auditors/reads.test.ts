import t from 'tap'
import type { AuditorRead } from '../../../schemas/auditor-events.ts'
import { MAX_READS_AT_ONCE, READ_MS, type ReadsState, readRefusal, reads } from '../../../src/domain/auditors/reads.ts'
import { readsSnapshots } from '../../../src/services/auditors/read-record.ts'

const ADA = 'aud_00000000000000000000000001'
const BOB = 'aud_00000000000000000000000002'
const START_MS = Date.parse('2026-11-24T00:00:00.000Z')

const read: AuditorRead = { auditorId: ADA, route: 'seals', parameters: {} }

/** The state after so many reads of Ada at a time. */
const after = (state: ReadsState, count: number, atMs: number): ReadsState => {
  let folded = state
  for (let revision = 0; revision < count; revision++)
    folded = reads.evolve(folded, {
      ...{ type: 'AuditorRead', data: read, revision },
      metadata: { at: new Date(atMs).toISOString() },
    })
  return folded
}

const full = after(reads.initial, MAX_READS_AT_ONCE, START_MS)
const refusal = { refuse: { code: 'too_many_reads', retryAfterMs: READ_MS } }

t.test('an auditor may read so often at once, and then once more after a while', async t => {
  const almost = after(reads.initial, MAX_READS_AT_ONCE - 1, START_MS)
  t.same(reads.decide(read, almost, START_MS), { accept: [{ type: 'AuditorRead', data: read }] })
  t.same(reads.decide(read, full, START_MS), refusal)
  t.same(readRefusal(full, ADA, START_MS + READ_MS / 2), {
    refuse: { code: 'too_many_reads', retryAfterMs: READ_MS / 2 },
  })
  t.equal(readRefusal(full, ADA, START_MS + READ_MS), undefined)
  const again = after(full, 1, START_MS + READ_MS)
  t.same(readRefusal(again, ADA, START_MS + READ_MS), refusal)
  t.equal(readRefusal(full, BOB, START_MS), undefined, 'others may')
})

t.test('a clock that is a little behind forgets nothing, and one that was reset forgets all', async t => {
  t.same(readRefusal(full, ADA, START_MS - 60_000), refusal)
  t.equal(readRefusal(full, ADA, START_MS - 60_001), undefined)
})

t.test('a snapshot holds what counts', async t => {
  const thawed = readsSnapshots.thaw(JSON.parse(JSON.stringify(readsSnapshots.freeze(full))))
  t.same(readRefusal(thawed, ADA, START_MS), refusal)
  t.equal(readRefusal(thawed, ADA, START_MS + READ_MS), undefined)
})
