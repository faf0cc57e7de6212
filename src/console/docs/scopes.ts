/** Who may send a request. */
export interface Access {
  /** What the request must carry. */
  needs: 'nothing' | 'a key' | 'a key or a session' | 'an auditor’s key'
  /** The scopes of keys that permit it. */
  scopes: readonly string[]
  /** Narrows the scope `read`. */
  note?: string
}

/** The parts of an operation that decide. */
interface Guarded {
  method: string
  path: string
  auth: 'none' | 'key' | 'key or session' | 'key unless public' | 'auditor key'
}

const NEEDS = {
  none: 'nothing',
  key: 'a key',
  'key or session': 'a key or a session',
  'key unless public': 'a key or a session',
  'auditor key': 'an auditor’s key',
} as const

/** GET requests whose answers let their reader act for the account, or show who its owner is. */
const SECRETS = ['/v1/webhooks/secret', '/v1/notices', '/v1/purchases/{id}/invoice']

/** The scopes that permit an operation. The services check the same rule: src/services/policies/authorization.ts. */
export const accessOf = ({ method, path, auth }: Guarded): Access => {
  const needs = NEEDS[auth]
  if (auth === 'none' || auth === 'auditor key') return { needs, scopes: [] }
  if (path === '/v1/key') return { needs, scopes: ['full', 'read', 'keys'] }
  if (path.startsWith('/v1/keys')) return { needs, scopes: ['keys'] }
  if (path === '/v1/run') return { needs, scopes: ['full', 'read'], note: 'The scope read permits dry runs.' }
  if (path === '/mcp')
    return { needs, scopes: ['full', 'read'], note: 'The scope read permits the tools that change nothing.' }
  return { needs, scopes: method === 'GET' && !SECRETS.includes(path) ? ['full', 'read'] : ['full'] }
}
