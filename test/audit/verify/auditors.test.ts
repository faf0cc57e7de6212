import t from 'tap'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { makeLink } from '../../support/links.ts'
import { verified } from '../../support/verified.ts'

const ADA = 'aud_00000000000000000000000001'
const BOB = 'aud_00000000000000000000000002'
const HASH = '1'.repeat(64)
const OTHER_HASH = '2'.repeat(64)

interface Given {
  type: string
  data: object
  actor: object
  /** Seconds after the first event. */
  second?: number
}

const operator = { kind: 'operator', name: 'olga' }
const auditor = { kind: 'auditor', name: 'ada' }

const created = (change: object = {}): Given => ({
  type: 'AuditorKeyCreated',
  data: { auditorId: ADA, name: 'ada', hash: HASH, lastFour: 'a1b2', ...change },
  actor: operator,
})
const bob = created({ auditorId: BOB, name: 'bob', hash: OTHER_HASH })
const revoked = (change: object = {}): Given => ({
  type: 'AuditorKeyRevoked',
  data: { auditorId: ADA, hash: HASH, ...change },
  actor: operator,
})
const read = (change: object = {}): Given => ({
  type: 'AuditorRead',
  data: { auditorId: ADA, route: 'accounts', parameters: { limit: 5 }, ...change },
  actor: auditor,
})
const at = (second: number, given: Given): Given => ({ ...given, second })

/** The log with these events, as somebody who can write it would link them. */
const logWith = (given: Given[]): RawEvent[] => {
  const heads = new Map<string, { revision: number; link: string }>()
  return given.map(({ type, data, actor, second = 0 }, position) => {
    const stream = type === 'AuditorRead' ? 'reads' : 'auditors'
    const head = heads.get(stream)
    const revision = (head?.revision ?? -1) + 1
    const time = new Date(Date.UTC(2026, 10, 24) + second * 1000).toISOString()
    const event = { id: crypto.randomUUID(), stream, revision, position, type, data }
    const metadata = { format: 2, at: time, actor }
    const { link } = makeLink(head?.link, { ...event, metadata })
    heads.set(stream, { revision, link })
    return { ...event, metadata: { ...metadata, hash: link } }
  })
}

const verify = async (...given: Given[]) => {
  const found = await verified(logWith(given), { isDense: true })
  return { faults: found?.faults.map(({ what }) => what), notes: found?.notes.map(({ what }) => what) }
}

t.test('auditors who are created, read, and are revoked have no fault', async t => {
  const clean = await verify(
    created(),
    read(),
    bob,
    revoked(),
    created({ auditorId: `${BOB.slice(0, -1)}3`, hash: '3'.repeat(64) }),
  )
  t.same(clean, { faults: [], notes: [] })
})

const faults: Record<string, [Given[], RegExp]> = {
  'an auditor who is created twice': [[created(), { ...bob, data: { ...bob.data, auditorId: ADA } }], /created before/],
  'a key that is created twice': [
    [created(), { ...bob, data: { ...bob.data, hash: HASH } }],
    /its key was created before/,
  ],
  'a name that two active auditors have': [
    [created(), { ...bob, data: { ...bob.data, name: 'ada' } }],
    /has the name ada/,
  ],
  'a key that an auditor creates': [[{ ...created(), actor: auditor }], /caused by the actor auditor/],
  'a revocation of nobody': [[revoked()], /not an active auditor/],
  'a second revocation': [[created(), revoked(), revoked()], /not an active auditor/],
  'a revocation of another key': [[created(), revoked({ hash: OTHER_HASH })], /not an active auditor/],
  'a revocation by an auditor': [[created(), { ...revoked(), actor: auditor }], /caused by the actor auditor/],
  'a read by nobody': [[read()], /was not created before it/],
  'a read before the key': [[bob, read(), created()], /was not created before it/],
  'a read in the name of another': [
    [created(), { ...read(), actor: { kind: 'auditor', name: 'bob' } }],
    /not caused by/,
  ],
  'a read by an operator': [[created(), { ...read(), actor: operator }], /not caused by the auditor ada/],
  'a read long after the revocation': [[created(), at(10, revoked()), at(71, read())], /had been revoked at/],
}

for (const [name, [given, fault]] of Object.entries(faults))
  t.test(`${name} is a fault`, async t => {
    const found = await verify(...given)
    t.equal(found.faults?.length, 1)
    t.match(found.faults?.[0], fault)
  })

t.test('a request that was on its way when its key was revoked is a note', async t => {
  const { faults, notes } = await verify(created(), at(10, revoked()), at(12, read()))
  t.same(faults, [])
  t.match(notes, [/had been revoked at/])
})
