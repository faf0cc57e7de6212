import t from 'tap'
import { Truth } from './truth.ts'

t.test('the chains of all streams are checked', async t => {
  const violations: string[] = []
  const truth = new Truth(
    violation => violations.push(violation),
    () => false,
  )
  const metadata = { format: 4, at: '2026-01-01T00:00:00.000Z', actor: { kind: 'service' }, hash: 'f'.repeat(64) }
  const types = { catalog: 'FamilyWithdrawn', 'login-1': 'LoginLinked', 'account-acct_1': 'AccountOpened' }
  for (const [stream, type] of Object.entries(types))
    truth.follow(stream, [{ id: crypto.randomUUID(), type, data: {}, metadata }], 0)
  t.same(
    violations,
    Object.keys(types).map(stream => `${stream} at 0: the chain breaks`),
  )
})
