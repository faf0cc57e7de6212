import { userInfo } from 'node:os'
import t from 'tap'
import { Actor } from '../../schemas/actor.ts'
import { accountStream, CATALOG_STREAM } from '../../schemas/events.ts'
import { compileGuard } from '../../src/engine/log/codec.ts'
import { type Caller, causeOf } from '../../src/services/caller.ts'
import { accountId, keyId } from '../support/account-samples.ts'
import { picture } from '../support/client.ts'
import { collect } from '../support/collect.ts'
import { operatorOf } from '../support/operator.ts'
import { instantProvider, openAccount, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = await temporaryFolder(t)
const service = await startService(t, { folder, providers: { sandbox: instantProvider } })
const operator = operatorOf(folder)

/** The cause of the last event of each type in a stream. */
const causes = async (stream: string): Promise<Record<string, unknown>> => {
  const events = await collect(service.core.log.readStream(stream, 0))
  return Object.fromEntries(
    events.map(({ type, metadata }) => {
      const { actor, requestId } = metadata as { actor: object; requestId?: string }
      return [type, { actor, requestId }]
    }),
  )
}

t.test('a run is requested by a key and completed by a reactor', async t => {
  const customer = await openAccount(service)
  await customer.run(picture, { 'X-Request-Id': 'request-7' })
  const key = { actor: { kind: 'key', keyId: customer.keyId }, requestId: 'request-7' }
  t.match(await causes(accountStream(customer.accountId)), {
    CreditsDebited: key,
    RunStarted: key,
    RunCompleted: { actor: { kind: 'reactor' }, requestId: undefined },
  })
})

t.test('shipped families are published by the service', async t => {
  t.match(await causes(CATALOG_STREAM), { FamilyPublished: { actor: { kind: 'service' } } })
})

t.test('commands record the name of the operator', async t => {
  const { accountId } = await openAccount(service)
  await operator.json(t, 'keys', 'create', accountId, '--as', 'ada')
  await operator.json(t, '--as', 'Grace Hopper', 'credits', 'grant', accountId, '1', '--reason', 'a gift')
  const created = await operator.json<{ account_id: string }>(t, 'accounts', 'open', '--email', 'bob@example.com')
  const given = await causes(accountStream(accountId))
  t.same(given['ApiKeyCreated'], { actor: { kind: 'operator', name: 'ada' }, requestId: undefined })
  t.same(given['CreditsGranted'], { actor: { kind: 'operator', name: 'Grace Hopper' }, requestId: undefined })
  const { AccountOpened } = await causes(accountStream(created.account_id as typeof accountId))
  t.same(AccountOpened, { actor: { kind: 'operator', name: userInfo().username }, requestId: undefined })
})

t.test('the names of operators and keys are in one form', async t => {
  const { accountId } = await openAccount(service)
  await operator.json(t, 'keys', 'create', accountId, '--name', 'Cafe\u0301 👩\u200d💻', '--as', 'Rene\u0301')
  const created = (await collect(service.core.log.readStream(accountStream(accountId), 0))).at(-1)
  t.match(created, { type: 'ApiKeyCreated', data: { name: 'Café 👩\u200d💻' }, metadata: { actor: { name: 'René' } } })
})

t.test('an operator name must be printable and have at most 64 characters', async t => {
  const head = await service.core.log.head()
  for (const name of ['', ' ', 'x'.repeat(65), 'a\nb', 'a\u202eb'])
    t.match(await operator.refused(t, 'accounts', 'list', '--as', name), /must have 1 to 64 printable characters/)
  t.equal(await service.core.log.head(), head)
})

t.test('every kind of caller has an actor that the log accepts', async t => {
  const isActor = compileGuard(Actor)
  const session = { kind: 'session', sessionId: 'sess_00000000000000000000000001' } as const
  const expected: [Caller, object][] = [
    [
      { kind: 'key', accountId: accountId(), keyId: keyId(), scope: 'full' },
      { kind: 'key', keyId: keyId() },
    ],
    [{ ...session, accountId: accountId() }, session],
    [
      { kind: 'operator', name: 'ada' },
      { kind: 'operator', name: 'ada' },
    ],
    [
      { kind: 'auditor', auditorId: 'aud_00000000000000000000000001', name: 'ada' },
      { kind: 'auditor', name: 'ada' },
    ],
    [{ kind: 'reactor' }, { kind: 'reactor' }],
    [{ kind: 'service' }, { kind: 'service' }],
  ]
  for (const [caller, actor] of expected) {
    t.same(causeOf({ ...caller, requestId: 'request-1' }), { actor, requestId: 'request-1' })
    t.ok(isActor(actor))
  }
  t.ok(isActor({ kind: 'operator' }), 'an operator without a name, as in older events')
  t.notOk(isActor({ kind: 'auditor' }))
})

t.test('an anonymous caller causes no event', async t => {
  t.throws(() => causeOf({ kind: 'anonymous' }), { message: 'a request without a key cannot change anything' })
})
