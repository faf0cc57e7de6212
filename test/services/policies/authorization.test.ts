import t from 'tap'
import type { KEY_SCOPES } from '../../../schemas/actor.ts'
import { answer } from '../../../src/services/answer.ts'
import type { AccountCaller, Caller } from '../../../src/services/caller.ts'
import { authorize } from '../../../src/services/policies/authorization.ts'
import type { Services } from '../../../src/services/services.ts'
import { accountId, keyId } from '../../support/account-samples.ts'

const key = (scope: (typeof KEY_SCOPES)[number]): Caller => ({
  kind: 'key',
  accountId: accountId(),
  keyId: keyId(),
  scope,
})

const callers: Record<string, Caller> = {
  'a full key': key('full'),
  'a read key': key('read'),
  'a keys key': key('keys'),
  'a session': { kind: 'session', accountId: accountId(), sessionId: 'sess_00000000000000000000000001' },
  'an auditor': { kind: 'auditor', name: 'ada' },
  'an operator': { kind: 'operator', name: 'ada' },
  'a reactor': { kind: 'reactor' },
  'the service': { kind: 'service' },
}

/** One function for each permission, and who may call it. */
const expected: Record<string, { call: (services: Services, caller: never) => Promise<object>; allowed: string[] }> = {
  read: {
    call: (services, caller) => services.accounts.balance(caller),
    allowed: ['a full key', 'a read key', 'a session', 'an auditor', 'an operator', 'a reactor', 'the service'],
  },
  write: {
    call: (services, caller) => services.runs.cancel(caller, 'run', {}),
    allowed: ['a full key', 'a session', 'an operator', 'a reactor', 'the service'],
  },
  secret: {
    call: (services, caller) => services.webhooks.secret(caller),
    allowed: ['a full key', 'a session', 'an operator', 'a reactor', 'the service'],
  },
  keys: {
    call: (services, caller) => services.keys.list(caller, accountId()),
    allowed: ['a keys key', 'a session', 'an operator', 'a reactor', 'the service'],
  },
  operate: {
    call: (services, caller) => services.accounts.list(caller),
    allowed: ['an operator', 'a reactor', 'the service'],
  },
  any: {
    call: (services, caller) => services.positions.last(caller),
    allowed: Object.keys(callers),
  },
}

/** Services whose functions return their arguments. */
const echo = async (...args: unknown[]) => answer(args)
const all = new Proxy({}, { get: () => echo })
const nouns = ['accounts', 'keys', 'catalog', 'runs', 'uploads', 'files', 'webhooks', 'positions', 'descriptors']
const services = authorize(Object.fromEntries(nouns.map(noun => [noun, all])) as unknown as Services)

for (const [permission, { call, allowed }] of Object.entries(expected))
  t.test(`who may ${permission}`, async t => {
    for (const [name, caller] of Object.entries(callers)) {
      const outcome = await call(services, caller as never)
      if (allowed.includes(name)) t.match(outcome, { value: [caller] }, name)
      else {
        const scope = caller.kind === 'key' ? caller.scope : undefined
        t.same(outcome, { refuse: { code: 'forbidden', scope } }, name)
      }
    }
  })

t.test('calls pass on all of their arguments', async t => {
  const caller = callers['a full key'] as AccountCaller
  t.same(await services.runs.cancel(caller, 'run', { waitMs: 1 }), { value: [caller, 'run', { waitMs: 1 }] })
})
