import t from 'tap'
import { verifyLog } from '../../../src/audit/verify/verify.ts'
import type { Core } from '../../../src/boot/core.ts'
import type { Done, Provider } from '../../../src/ports/provider.ts'
import { boundTo } from '../../support/bound-to.ts'
import { doneFor } from '../../support/done.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { openAccount, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { unwrap } from '../../support/unwrap.ts'
import { offer, order, vendorFamily } from '../../support/vendor-families.ts'

const operator = { kind: 'operator', name: 'olga' } as const

const clock = new ManualClock(Date.parse('2026-11-30T23:59:59.000Z'))
const disable = async ({ services }: Core) => unwrap(await services.routing.setProvider(operator, 'openai', false))
const passMidnight = async () => clock.advance(2000)
const endings: [what: string, retiresAt: string | undefined, end: (core: Core) => Promise<unknown>][] = [
  ['when a provider is disabled', undefined, disable],
  ['when a model retires at midnight', '2026-12-01', passMidnight],
]

for (const [what, retiresAt, end] of endings)
  t.test(`${what}, the run that it works on goes on, and queued runs are refunded`, async t => {
    let submitted = 0
    let finish: (outcome: Done) => void = () => undefined
    const done = new Promise<Done>(resolve => {
      finish = resolve
    })
    const vendor: Provider = {
      submit: () => {
        submitted += 1
        return done
      },
      close: async () => undefined,
    }
    const bindingsOf = (endpoint: string) =>
      boundTo('openai')(endpoint).map(each => ({ ...each, ...(retiresAt && { retiresAt }) }))
    const parts = { clock, providers: { openai: vendor }, bindingsOf, limits: { permitsPerProvider: 1 } }
    const { core, ...service } = await startService(t, parts)
    await offer(core, vendorFamily())
    const customer = await openAccount({ core, url: service.url })
    const ids = [(await customer.run(order())).body.run_id]
    await until('the provider works on the first run', () => submitted)
    ids.push((await customer.run(order())).body.run_id)
    const [working, queued] = ids
    const runOf = async (id: string | undefined) => (await customer.send(`/v1/runs/${id}`)).body

    await end(core)
    const ended = await until('the queued run has ended', async () => {
      const run = await runOf(queued)
      return run.status === 'failed' && run
    })
    t.match(ended, { error: { code: 'provider_error' }, credits_refunded: 1 })
    t.match(await runOf(working), { status: 'processing' })
    finish(doneFor({ endpoint: 'vendor-t2i', input: {} }))
    await until('the first run is done', async () => (await runOf(working)).status === 'completed')
    t.equal(submitted, 1)
    t.equal((await customer.run(order())).status, 503)
    t.same((await verifyLog(core.log, { isDense: true }))?.faults, [])
  })
