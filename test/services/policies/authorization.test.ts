import t from 'tap'
import type { KEY_SCOPES } from '../../../schemas/actor.ts'
import { Accounts } from '../../../src/services/accounts/accounts.ts'
import { ApiKeys } from '../../../src/services/accounts/api-keys.ts'
import { answer } from '../../../src/services/answer.ts'
import { Audit } from '../../../src/services/auditors/audit.ts'
import type { AccountCaller, Caller } from '../../../src/services/caller.ts'
import { Catalog, Descriptors } from '../../../src/services/catalog/catalog.ts'
import { Files } from '../../../src/services/files/files.ts'
import { authorize } from '../../../src/services/policies/authorization.ts'
import { Refunds } from '../../../src/services/runs/refunds.ts'
import { Runs } from '../../../src/services/runs/runs.ts'
import { Sessions } from '../../../src/services/sign-in/sessions.ts'
import { Uploads } from '../../../src/services/uploads/uploads.ts'
import { Positions } from '../../../src/services/views/positions.ts'
import { Webhooks } from '../../../src/services/webhooks/webhooks.ts'
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
  'an auditor': { kind: 'auditor', auditorId: 'aud_00000000000000000000000001', name: 'ada' },
  'an operator': { kind: 'operator', name: 'ada' },
  'a reactor': { kind: 'reactor' },
  'the service': { kind: 'service' },
  'an anonymous caller': { kind: 'anonymous' },
}

/** One function for each permission, and who may call it. */
const expected: Record<string, { call: (all: typeof services, caller: never) => Promise<object>; allowed: string[] }> =
  {
    read: {
      call: (services, caller) => services.accounts.balance(caller),
      allowed: ['a full key', 'a read key', 'a session', 'an operator', 'a reactor', 'the service'],
    },
    write: {
      call: (services, caller) => services.runs.cancelRun(caller, 'run', {}),
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
    own: {
      call: (services, caller) => services.keys.own(caller),
      allowed: Object.keys(callers).filter(name => name !== 'an anonymous caller' && name !== 'an auditor'),
    },
    session: {
      call: (services, caller) => services.sessions.closeAll(caller),
      allowed: ['a session'],
    },
    operate: {
      call: (services, caller) => services.accounts.list(caller),
      allowed: ['an operator', 'a reactor', 'the service'],
    },
    wait: {
      call: (services, caller) => services.positions.last(caller),
      allowed: Object.keys(callers).filter(name => name !== 'an anonymous caller' && name !== 'an auditor'),
    },
    describe: {
      call: (services, caller) => services.descriptors.families(caller),
      allowed: Object.keys(callers).filter(name => name !== 'a keys key' && name !== 'an auditor'),
    },
    public: {
      call: (services, caller) => services.files.stat(caller, 'key'),
      allowed: Object.keys(callers).filter(name => name !== 'an auditor'),
    },
    audit: {
      call: (services, caller) => services.audit.verify(caller, {}, new AbortController().signal),
      allowed: ['an auditor'],
    },
  }

/** A service whose functions return their arguments. */
const echoing = <Service extends object>(service: Service): Service =>
  new Proxy(service, {
    get: (of, name) => (name === 'permissions' ? of[name as never] : async (...args: unknown[]) => answer(args)),
  })

const services = authorize({
  accounts: echoing(new Accounts({} as never)),
  refunds: echoing(new Refunds({} as never)),
  keys: echoing(new ApiKeys({} as never)),
  catalog: echoing(new Catalog({} as never)),
  runs: echoing(new Runs({} as never)),
  uploads: echoing(new Uploads({} as never)),
  files: echoing(new Files({} as never)),
  webhooks: echoing(new Webhooks({} as never)),
  positions: echoing(new Positions({} as never)),
  descriptors: echoing(new Descriptors({} as never)),
  audit: echoing(new Audit({} as never)),
  sessions: echoing(new Sessions({} as never)),
})

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

t.test('a caller without a key may use files by their addresses and read the public descriptors', async t => {
  const functions = Object.entries(services).flatMap(([noun, named]) =>
    Object.entries(named as Record<string, (caller: Caller) => Promise<object>>).map(
      ([name, call]) => [`${noun}.${name}`, call] as const,
    ),
  )
  const allowed: string[] = []
  for (const [name, call] of functions) if ('value' in (await call({ kind: 'anonymous' }))) allowed.push(name)
  t.same(allowed.toSorted(), ['descriptors.families', 'files.read', 'files.receive', 'files.stat'])
  t.ok(functions.length > allowed.length * 5, 'all services are tried')
})

t.test('calls pass on all of their arguments', async t => {
  const caller = callers['a full key'] as AccountCaller
  t.same(await services.runs.cancelRun(caller, 'run', { waitMs: 1 }), { value: [caller, 'run', { waitMs: 1 }] })
})
