import * as client from 'openid-client'
import type { TelegramIdentity } from '../../../schemas/identity.ts'
import { MAX_IDENTITY_NAME_LENGTH } from '../../../schemas/identity.ts'
import { toLine } from '../../../schemas/names.ts'
import { Unavailable } from '../../ports/faults.ts'
import { IdentityNotProved, type IdentityProvider } from '../../ports/identity-provider.ts'

/** https://core.telegram.org/bots/telegram-login */
export const TELEGRAM_ISSUER = 'https://oauth.telegram.org'

const TIMEOUT_SECONDS = 10

/** How long Telegram's discovery document is used. The library refreshes the keys on its own schedule. */
const DISCOVERY_MS = 60 * 60 * 1000

interface TelegramOptions {
  clientId: string
  clientSecret: string
  /** Another issuer, for tests; over plain HTTP if its URL says so. */
  issuer?: string | undefined
  /** Reaches Telegram through a proxy. */
  fetch?: typeof fetch | undefined
}

/**
 * Telegram's OpenID Connect login: the code flow with PKCE, and the client secret in the Authorization header. The ID
 * token is verified in full, including its signature, although it comes straight from Telegram.
 */
export const openTelegram = ({
  clientId,
  clientSecret,
  issuer = TELEGRAM_ISSUER,
  fetch,
}: TelegramOptions): IdentityProvider => {
  /** As documented by Telegram: without the encoding that RFC 6749 requires. */
  const authenticate: client.ClientAuth = (_server, _client, body, headers) => {
    headers.set('authorization', `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`)
    body.set('client_id', clientId)
  }
  let known: { config: Promise<client.Configuration>; atMs: number } | undefined
  const configuration = (): Promise<client.Configuration> => {
    if (known && performance.now() - known.atMs < DISCOVERY_MS) return known.config
    const execute = [client.enableNonRepudiationChecks]
    if (issuer.startsWith('http:')) execute.push(client.allowInsecureRequests)
    const proxied = fetch && { [client.customFetch]: fetch as client.CustomFetch }
    const options = { timeout: TIMEOUT_SECONDS, execute, ...proxied }
    const config = client.discovery(new URL(issuer), clientId, undefined, authenticate, options).catch(error => {
      known = undefined
      throw new Unavailable('the discovery document of the identity provider cannot be loaded', { cause: error })
    })
    known = { config, atMs: performance.now() }
    return config
  }

  return {
    begin: async returnUrl => {
      const config = await configuration()
      const attempt = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      }
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: returnUrl,
        scope: 'openid profile',
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      })
      return { url: url.href, attempt }
    },

    finish: async (returnedTo, { state, nonce, verifier }) => {
      const config = await configuration()
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true }
      const tokens = await client.authorizationCodeGrant(config, returnedTo, checks).catch(error => {
        throw isAway(error)
          ? new Unavailable('the identity provider does not answer', { cause: error })
          : new IdentityNotProved(`the identity provider's answer is refused: ${error.message}`, { cause: error })
      })
      return identityOf(tokens.claims())
    },
  }
}

/** `sub` identifies the account. Anybody may choose any name, so it is only for people. */
const identityOf = (claims: client.IDToken | undefined): TelegramIdentity => {
  const subject = claims?.sub ?? ''
  if (!/^[!-~]{1,255}$/.test(subject)) throw new IdentityNotProved('the ID token has no subject')
  const given = claims?.['name'] ?? claims?.['preferred_username']
  const name = typeof given === 'string' ? toLine(given, MAX_IDENTITY_NAME_LENGTH) : ''
  return { kind: 'telegram', subject, ...(name && { name }) }
}

/** Whether the network or the provider's server is at fault, so that another attempt may succeed. */
const isAway = (error: unknown): boolean => {
  const { cause, code, status } = error as { cause?: { status?: number }; code?: string; status?: number }
  return code === 'OAUTH_TIMEOUT' || error instanceof TypeError || (status ?? cause?.status ?? 0) >= 500
}
