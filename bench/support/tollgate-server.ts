import { openCore } from '../../src/boot/core.ts'
import { readConfig } from '../../src/boot/read-config.ts'
import { startServer } from '../../src/boot/server.ts'
import type { Provider } from '../../src/ports/provider.ts'
import type { NewKey } from '../../src/services/accounts/api-keys.ts'
import { unwrap } from '../../test/support/unwrap.ts'

/**
 * The service with its defaults, and an instant provider unless the arguments select the sandbox. Opens the given
 * number of accounts, whose keys may have a budget that they cannot spend.
 */
const [accountCount = '1', provider = 'instant', budget] = process.argv.slice(2)
const caller = { kind: 'operator', name: 'bench' } as const

const instant: Provider = {
  submit: async () => ({ kind: 'done', media: [], text: 'done' }),
}

const keyWithBudget: NewKey = { name: 'budget', budget: { amountMicros: 10 ** 15, period: 'month' } }

/** Grants as many lots as are missing, each with an end of its own, and every second one paid for. */
const grantLots = async (accountId: string, count: number) => {
  for (let lot = 2; lot <= count; lot++) {
    const expiresAt = new Date(Date.now() + lot * 86_400_000).toISOString()
    const kind = lot % 2 === 0 ? 'purchase' : 'courtesy'
    const grant = { amountMicros: 10 ** 12, kind, reference: `lot ${lot}`, reason: 'bench', expiresAt } as const
    unwrap(await core.services.accounts.grant(caller, accountId, grant))
  }
}

const config = readConfig(process.env)
const isPlain = process.env['BENCH_PLAIN'] === 'on'
const core = await openCore(config, { projectorThread: config.projectorThread, isPlain })
const server = await startServer(core, provider === 'instant' ? { providers: { sandbox: instant } } : {})
const keys = await Promise.all(
  Array.from({ length: Number(accountCount) }, async (_, index) => {
    const email = `bench-${index}-${Date.now()}@localhost`
    const { accounts } = core.services
    const opening = { email, tester: true, welcomeMicros: 10 ** 15, key: { name: 'bench' } }
    const { accountId, apiKey } = unwrap(await accounts.open(caller, opening))
    await grantLots(accountId, Number(process.env['BENCH_LOTS'] ?? 1))
    return budget ? unwrap(await core.services.keys.create(caller, accountId, keyWithBudget)).apiKey : apiKey
  }),
)
await core.progress.passed(await core.log.head(), 60_000)
process.on('message', async () => {
  await server.stop()
  await core.close()
  process.exit(0)
})
process.send?.({ url: server.url.replace('localhost', '127.0.0.1'), keys })
