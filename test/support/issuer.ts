import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

export const CLIENT_ID = '7342037359'
export const CLIENT_SECRET = 'hush:+/%-_.'

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const newKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 })

/** Changes to an ID token before it is signed, and the key that signs it. */
export interface TokenChange {
  claims?: Record<string, unknown>
  header?: Record<string, unknown>
  key?: KeyObject
  /** The token itself. */
  token?: string
}

/** An OpenID Connect provider as Telegram documents its own, in which everybody consents at once. */
export const startIssuer = async (t: Test) => {
  const own = newKey()
  const grants = new Map<
    string,
    { nonce: string; challenge: string; redirectUri: string; subject: string; change: TokenChange }
  >()
  const issued: string[] = []
  const requests: string[] = []
  let isAway = false
  let url = ''

  const idToken = (
    nonce: string,
    sub: string,
    { claims = {}, header = {}, key = own.privateKey }: TokenChange,
  ): string => {
    const now = Math.floor(Date.now() / 1000)
    const profile = { id: Number(sub), name: 'Ada Lovelace', preferred_username: 'ada' }
    const body = { iss: url, aud: CLIENT_ID, sub, iat: now, exp: now + 600, nonce, ...profile, ...claims }
    const text = `${base64({ alg: 'RS256', kid: 'oidc-1', ...header })}.${base64(body)}`
    return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
  }

  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', url)
    requests.push(pathname)
    let text = ''
    for await (const piece of request) text += piece
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'Content-Type': 'application/json' })
      response.end(JSON.stringify(body))
    }
    if (isAway) return answer(503, {})
    if (pathname === '/.well-known/openid-configuration')
      return answer(200, {
        issuer: url,
        authorization_endpoint: `${url}/auth`,
        token_endpoint: `${url}/token`,
        jwks_uri: `${url}/.well-known/jwks.json`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256', 'ES256', 'EdDSA', 'ES256K'],
        scopes_supported: ['openid', 'phone', 'profile', 'telegram:bot_access'],
        code_challenge_methods_supported: ['plain', 'S256'],
      })
    if (pathname === '/.well-known/jwks.json') {
      const jwk = own.publicKey.export({ format: 'jwk' })
      return answer(200, { keys: [{ ...jwk, alg: 'RS256', use: 'sig', kid: 'oidc-1' }] })
    }
    const given = new URLSearchParams(text)
    const [user = '', password = ''] = Buffer.from((request.headers.authorization ?? '').slice(6), 'base64')
      .toString()
      .split(/:(.*)/s)
    if (user !== CLIENT_ID || password !== CLIENT_SECRET) return answer(401, { error: 'invalid_client' })
    const grant = grants.get(given.get('code') ?? '')
    grants.delete(given.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(given.get('code_verifier') ?? '')
      .digest('base64url')
    if (!grant || grant.challenge !== challenge || grant.redirectUri !== given.get('redirect_uri'))
      return answer(400, { error: 'invalid_grant' })
    const token = grant.change.token ?? idToken(grant.nonce, grant.subject, grant.change)
    issued.push(token)
    answer(200, { access_token: 'unused', token_type: 'Bearer', expires_in: 600, id_token: token })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise<void>(resolve => server.close(() => resolve())))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    url,
    /** The tokens that were issued, and the paths that were asked for. */
    ...{ issued, requests },
    otherKey: newKey().privateKey,
    away: (value: boolean) => {
      isAway = value
    },
    /** Lets somebody consent. Returns the address that the browser is sent back to. */
    consent: (authorization: string, subject = '17', change: TokenChange = {}): URL => {
      const query = new URL(authorization).searchParams
      const code = crypto.randomUUID()
      grants.set(code, {
        ...{ subject, change, nonce: query.get('nonce') ?? '', challenge: query.get('code_challenge') ?? '' },
        redirectUri: query.get('redirect_uri') ?? '',
      })
      const back = new URL(query.get('redirect_uri') ?? '')
      back.search = new URLSearchParams({ code, state: query.get('state') ?? '' }).toString()
      return back
    },
  }
}
