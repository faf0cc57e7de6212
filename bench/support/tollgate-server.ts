import { readConfig } from '../../src/boot/config.ts'
import { openCore } from '../../src/boot/core.ts'
import { startServer } from '../../src/boot/server.ts'
import type { Provider } from '../../src/ports/provider.ts'
import { createApiKey } from '../../src/services/accounts/api-keys.ts'
import { register } from '../../src/services/accounts/registration.ts'

/**
 * The service with its defaults, and a provider that answers at once unless it is told to take the sandbox. Opens as many
 * accounts as it is told to.
 */
const [accountCount = '1', provider = 'instant'] = process.argv.slice(2)
const cause = { actor: { kind: 'operator' } } as const

const instant: Provider = {
  submit: async () => ({ kind: 'done', media: [], text: 'done' }),
  close: async () => undefined,
}

const core = await openCore(readConfig(process.env))
const server = await startServer(core, provider === 'instant' ? { providers: { sandbox: instant } } : {})
const keys = await Promise.all(
  Array.from({ length: Number(accountCount) }, async (_, index) => {
    const email = `bench-${index}-${Date.now()}@localhost`
    const accountId = await register(core, { email, tester: true, welcomeMicros: 10 ** 15 }, cause)
    return (await createApiKey(core.accounts, 'tg', { accountId, name: 'bench', cause })).apiKey
  }),
)
await core.progress.passed(await core.log.head(), 60_000)
process.on('message', async () => {
  await server.stop()
  await core.close()
  process.exit(0)
})
process.send?.({ url: server.url.replace('localhost', '127.0.0.1'), keys })
