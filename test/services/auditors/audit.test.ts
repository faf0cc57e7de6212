import t, { type Test } from 'tap'
import type { Verification } from '../../../schemas/api/audit.ts'
import { READS_STREAM } from '../../../schemas/events.ts'
import type { LogVerifier } from '../../../src/ports/log-verifier.ts'
import { Audit } from '../../../src/services/auditors/audit.ts'
import { AuditorKeys } from '../../../src/services/auditors/auditor-keys.ts'
import { Auditors } from '../../../src/services/auditors/auditors.ts'
import { ReadRecord } from '../../../src/services/auditors/read-record.ts'
import { collect } from '../../support/collect.ts'
import { ambient, noSnapshots, openLog } from '../../support/engine.ts'
import { unwrap } from '../../support/unwrap.ts'

const operator = { kind: 'operator', name: 'olga' } as const
const found = { object: 'verification' } as Verification
const never = new AbortController().signal

/** Verifications that end when the test says so. */
class HeldVerifier implements LogVerifier {
  readonly held: { resolve(found: Verification): void; reject(error: Error): void }[] = []

  verify(): Promise<Verification> {
    return new Promise((resolve, reject) => this.held.push({ resolve, reject }))
  }

  async close() {}
}

const open = async (t: Test) => {
  const log = await openLog(t)
  const parts = { log, ...ambient() }
  const auditorKeys = new AuditorKeys(parts)
  const auditors = new Auditors({ auditorKeys, random: parts.random, keyPrefix: 'tg' })
  const record = new ReadRecord({ ...parts, snapshots: noSnapshots })
  const verifier = new HeldVerifier()
  const unused = {} as never
  const audit = new Audit({
    log,
    auditorKeys,
    record,
    verifier,
    reads: unused,
    accounts: unused,
    ledger: unused,
    seals: unused,
  })
  const { auditorId } = unwrap(await auditors.create(operator, 'ada'))
  const ada = { kind: 'auditor', auditorId, name: 'ada' } as const
  const reads = async () => (await collect(log.readStream(READS_STREAM, 0))).length
  return { audit, auditors, verifier, ada, reads }
}

t.test('one verification runs at a time, and one that is refused is not recorded', async t => {
  const { audit, verifier, ada, reads } = await open(t)
  const first = unwrap(await audit.verify(ada, {}, never))
  t.match(await audit.verify(ada, {}, never), { refuse: { code: 'verification_running', retryAfterMs: Number } })
  t.equal(await reads(), 1)
  verifier.held[0]?.resolve(found)
  t.same(await first.verification, { value: found })
  const second = unwrap(await audit.verify(ada, {}, never))
  verifier.held[1]?.reject(new Error('the client left'))
  await t.rejects(second.verification, { message: 'the client left' })
  t.ok('value' in (await audit.verify(ada, {}, never)), 'the place is free after a failure')
  t.equal(await reads(), 3)
})

t.test('a verification that cannot begin leaves its place', async t => {
  const { audit, auditors, ada, verifier } = await open(t)
  unwrap(await auditors.revoke(operator, ada))
  for (let attempt = 0; attempt < 2; attempt++)
    t.match(await audit.verify(ada, {}, never), { refuse: { code: 'key_revoked' } })
  t.equal(verifier.held.length, 0)
})

t.test('a key that is revoked during a verification gets no result', async t => {
  const { audit, auditors, verifier, ada } = await open(t)
  const { verification } = unwrap(await audit.verify(ada, {}, never))
  unwrap(await auditors.revoke(operator, ada))
  verifier.held[0]?.resolve(found)
  t.match(await verification, { refuse: { code: 'key_revoked' } })
})
