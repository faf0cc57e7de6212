import type { KeyScope } from '../../../schemas/actor.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Answer, Refused } from '../answer.ts'
import type { Caller } from '../caller.ts'
import type { Functions } from '../services.ts'

/** The permission that a service function requires. */
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

/**
 * Services that say which permission each of their functions requires. Neither a function without a permission nor a
 * permission without a function compiles.
 */
type Guarded<Some> = {
  [Noun in keyof Some]: {
    permissions: Record<Exclude<keyof Some[Noun], 'permissions'>, Permission> &
      (Some[Noun] extends { permissions: infer Listed }
        ? Record<Exclude<keyof Listed, keyof Some[Noun]>, never>
        : never)
  }
}

const ofAnyone = ['public', 'describe'] as const
const ofReader = [...ofAnyone, 'wait', 'own', 'read'] as const

const ofScope: Record<KeyScope, readonly Permission[]> = {
  full: [...ofReader, 'write', 'secret', 'settings'],
  // Excludes the webhook secret, which allows forging webhooks.
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

/** Wraps services so that each function refuses callers without its permission. */
export const authorize = <Some extends Guarded<Some>>(services: Some) =>
  Object.fromEntries(Object.entries<Service>(services as never).map(([noun, service]) => [noun, guarded(service)])) as {
    [Noun in keyof Some]: Functions<Some[Noun]>
  }

type Service = { permissions: Record<string, Permission> } & Record<string, ServiceFunction>
type ServiceFunction = (caller: Caller, ...args: unknown[]) => Promise<Answer<unknown>>

const guarded = (service: Service) =>
  Object.fromEntries(
    Object.entries(service.permissions).map(([name, permission]) => [
      name,
      (caller: Caller, ...args: unknown[]) => {
        const refusal = refusalOf(caller, permission)
        return refusal ? Promise.resolve(refusal) : (service[name] as ServiceFunction)(caller, ...args)
      },
    ]),
  )

const refusalOf = (caller: Caller, permission: Permission): Refused | undefined => {
  if (!ofCaller(caller).includes(permission))
    return refuse('forbidden', { scope: caller.kind === 'key' ? caller.scope : undefined })
  // Test keys are often kept carelessly, and live runs depend on the settings.
  return permission === 'settings' && caller.kind === 'key' && caller.livemode === false
    ? refuse('live_key_required')
    : undefined
}
