import { readConfig } from '../../src/boot/config.ts'
import { openCore } from '../../src/boot/core.ts'
import { startServer } from '../../src/boot/server.ts'
import type { Provider } from '../../src/ports/provider.ts'
import { unwrap } from '../../test/support/unwrap.ts'

/**
 * The service with its defaults, and an instant provider unless the arguments select the sandbox. Opens the given
 * number of accounts.
 */
const [accountCount = '1', provider = 'instant'] = process.argv.slice(2)
const caller = { kind: 'operator', name: 'bench' } as const

const instant: Provider = {
  submit: async () => ({ kind: 'done', media: [], text: 'done' }),
  close: async () => undefined,
}

const core = await openCore(readConfig(process.env))
const server = await startServer(core, provider === 'instant' ? { providers: { sandbox: instant } } : {})
const keys = await Promise.all(
  Array.from({ length: Number(accountCount) }, async (_, index) => {
    const email = `bench-${index}-${Date.now()}@localhost`
    const { accounts } = core.services
    const opening = { email, tester: true, welcomeMicros: 10 ** 15, key: { name: 'bench' } }
    return unwrap(await accounts.open(caller, opening)).apiKey
  }),
)
await core.progress.passed(await core.log.head(), 60_000)
process.on('message', async () => {
  await server.stop()
  await core.close()
  process.exit(0)
})
process.send?.({ url: server.url.replace('localhost', '127.0.0.1'), keys })
