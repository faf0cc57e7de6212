import t from 'tap'
import type { Context } from '../../src/http/context.ts'
import { authenticate } from '../../src/http/middleware/authenticate.ts'
import type { KeyHolders } from '../../src/services/accounts/key-holders.ts'
import { ApiError } from '../../src/transports/api-error.ts'
import { accountId, keyId } from '../support/account-samples.ts'
import { ManualClock } from '../support/manual-clock.ts'

const holder = { kind: 'key', accountId: accountId(), keyId: keyId(), scope: 'full' } as const

/** The uses that are noted of a request, which a route answers with a status or an error. */
const usesOf = async (
  answer: (ctx: Context) => void,
  holderOf: KeyHolders['holderOf'] = async () => ({ value: { holder, key: {} } }),
): Promise<string[]> => {
  const noted: string[] = []
  const keyUses = { note: (caller: { keyId: string }) => noted.push(caller.keyId) }
  const ctx = { status: 404, state: {}, get: () => 'Bearer tg_sk_live_0', req: { headers: {}, socket: {} } }
  const middleware = authenticate({
    keyHolders: { holderOf },
    keyUses,
    clientAddress: () => '198.51.100.7',
    clock: new ManualClock(),
    publicUrl: () => 'http://localhost:8080',
  })
  const context = ctx as unknown as Context
  await middleware(context, async () => answer(context)).catch(() => undefined)
  return noted
}

const status = (code: number) => (ctx: Context) => {
  ctx.status = code
}

t.test('a request counts as a use of its key once it is answered, unless it is refused', async t => {
  for (const code of [200, 202, 206, 304]) t.same(await usesOf(status(code)), [keyId()], String(code))
  for (const code of [400, 404, 429, 503]) t.same(await usesOf(status(code)), [], String(code))
  const refuse = () => {
    throw new ApiError('forbidden', 'No.')
  }
  t.same(await usesOf(refuse), [])
  t.same(await usesOf(status(200), async () => undefined), [], 'an unknown key')
  const expired = { holder, key: { expiresAt: '2020-01-01T00:00:00.000Z' } }
  t.same(await usesOf(status(200), async () => ({ value: expired })), [], 'an expired key')
})
