import type { KeyScope } from '../../../schemas/actor.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Answer, Refused } from '../answer.ts'
import { type Caller, modeOf } from '../caller.ts'
import type { Services } from '../services.ts'

/** The permission that a function requires. */
type Permission =
  | 'public'
  | 'wait'
  | 'describe'
  | 'own'
  | 'read'
  | 'write'
  | 'secret'
  | 'settings'
  | 'keys'
  | 'session'
  | 'operate'
  | 'audit'

/** The permission of every function. A new function does not compile until it is listed here. */
const permissions = {
  accounts: {
    open: 'operate',
    find: 'operate',
    findByEmail: 'operate',
    invite: 'operate',
    list: 'operate',
    balance: 'read',
    grant: 'operate',
    withdraw: 'operate',
    suspend: 'operate',
    resume: 'operate',
    setLimits: 'operate',
  },
  ledger: { lines: 'read', export: 'read', balanceAt: 'read' },
  charges: { explain: 'read' },
  usage: { list: 'read' },
  refunds: { refund: 'operate' },
  keys: { create: 'keys', list: 'keys', page: 'keys', revoke: 'keys', own: 'own' },
  auditors: { create: 'operate', list: 'operate', revoke: 'operate' },
  catalog: { list: 'read', export: 'operate', compare: 'operate', publish: 'operate', withdraw: 'operate' },
  runs: {
    quote: 'read',
    run: 'write',
    cancel: 'write',
    find: 'read',
    input: 'read',
    warnings: 'read',
    list: 'read',
    listWithInputs: 'read',
    follow: 'read',
  },
  previews: { ofRun: 'read' },
  uploads: { receive: 'write', presign: 'write', find: 'read', list: 'read', delete: 'write' },
  proofs: { event: 'read', run: 'read', consistency: 'read' },
  // Anyone who has the address of a file may use it.
  files: { stat: 'public', read: 'public', receive: 'public' },
  // The URL may hold a secret of the receiver.
  notices: { settings: 'settings', set: 'settings' },
  webhooks: { secret: 'secret', rotateSecret: 'settings', list: 'operate', find: 'operate', redeliver: 'operate' },
  deliveries: { list: 'read', ofRun: 'read', resend: 'write' },
  webhookTests: { send: 'write' },
  // Each is recorded under the auditor's name, so nobody else may.
  audit: { accounts: 'audit', ledger: 'audit', seals: 'audit', reads: 'audit', verify: 'audit' },
  // Providers have no key of ours, and sign what they send.
  callbacks: { receive: 'public' },
  // A person who is signing in is not known yet.
  signIn: { requestCode: 'public', enterCode: 'public', beginTelegram: 'public', enterTelegram: 'public' },
  // Only the owner, signed in, may say who else signs in to the account.
  sessions: { close: 'session', closeAll: 'session' },
  identities: { list: 'session', requestCode: 'session', enterCode: 'session', enterTelegram: 'session' },
  views: { verify: 'operate', rebuild: 'operate' },
  routing: {
    disabledProviders: 'operate',
    reported: 'operate',
    bindings: 'operate',
    setProvider: 'operate',
    setBinding: 'operate',
    orderBindings: 'operate',
    endWait: 'operate',
  },
  periods: { close: 'operate', list: 'operate' },
  // A position says nothing about the account, and every keyed request may carry one.
  positions: { wait: 'wait', last: 'wait' },
  // Public keys are for everyone, and say nothing about any account.
  seals: { keys: 'public', find: 'read' },
  // Whether a request for the families needs a key is a setting, which the routes know.
  descriptors: { families: 'describe', protocol: 'read' },
} as const satisfies { [Noun in keyof Services]: Record<keyof Services[Noun], Permission> }

const ofAnyone = ['public', 'describe'] as const
const ofReader = [...ofAnyone, 'wait', 'own', 'read'] as const

const ofScope: Record<KeyScope, readonly Permission[]> = {
  full: [...ofReader, 'write', 'secret', 'settings'],
  // The webhook secret allows forging webhooks, so it is not included.
  read: ofReader,
  keys: ['public', 'wait', 'own', 'keys'],
}

const ofCaller = (caller: Caller): readonly Permission[] => {
  switch (caller.kind) {
    case 'key':
      return ofScope[caller.scope]
    case 'session':
      return [...ofReader, 'write', 'secret', 'settings', 'keys', 'session']
    case 'auditor':
      return ['audit']
    case 'operator':
    case 'reactor':
    case 'service':
      return [...ofReader, 'write', 'secret', 'settings', 'keys', 'operate']
    case 'anonymous':
      return ofAnyone
  }
}

/** The same services, but functions refuse callers that lack their permission. */
export const authorize = <Some extends Partial<Services>>(services: Some): Some => {
  const guarded = Object.entries(services).map(([noun, functions]) => [
    noun,
    Object.fromEntries(
      Object.entries(permissions[noun as keyof Services]).map(([name, permission]) => [
        name,
        guard(functions as Record<string, ServiceFunction>, name, permission),
      ]),
    ),
  ])
  return Object.fromEntries(guarded)
}

type ServiceFunction = (caller: Caller, ...args: unknown[]) => Promise<Answer<unknown>>

const guard =
  (functions: Record<string, ServiceFunction>, name: string, permission: Permission): ServiceFunction =>
  async (caller, ...args) =>
    refusalOf(caller, permission) ?? (functions[name] as ServiceFunction).call(functions, caller, ...args)

const refusalOf = (caller: Caller, permission: Permission): Refused | undefined => {
  if (!ofCaller(caller).includes(permission))
    return refuse('forbidden', { scope: caller.kind === 'key' ? caller.scope : undefined })
  // Test keys are often kept carelessly, and live runs depend on the settings.
  return permission === 'settings' && modeOf(caller).livemode === false ? refuse('live_key_required') : undefined
}
