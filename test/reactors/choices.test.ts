import t from 'tap'
import { verifyLog } from '../../src/audit/verify/verify.ts'
import type { Done, Provider } from '../../src/ports/provider.ts'
import { boundTo } from '../support/bound-to.ts'
import { openAccount, startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'
import { offer, order, vendorFamily } from '../support/vendor-families.ts'

const operator = { kind: 'operator', name: 'olga' } as const

t.test('when a provider is disabled, the run that it works on goes on, and queued runs are refunded', async t => {
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
  const parts = { providers: { openai: vendor }, bindingsOf: boundTo('openai'), limits: { slotsPerProvider: 1 } }
  const { core, ...service } = await startService(t, parts)
  await offer(core, vendorFamily())
  const customer = await openAccount({ core, url: service.url })
  const ids = [(await customer.run(order())).body.run_id]
  await until('the provider works on the first run', () => submitted)
  ids.push((await customer.run(order())).body.run_id)
  const [working, queued] = ids
  const runOf = async (id: string | undefined) => (await customer.send(`/v1/runs/${id}`)).body

  unwrap(await core.services.routing.setProvider(operator, 'openai', false))
  const ended = await until('the queued run has ended', async () => {
    const run = await runOf(queued)
    return run.status === 'failed' && run
  })
  t.match(ended, { error: { code: 'provider_error' }, credits_refunded: 1 })
  t.match(await runOf(working), { status: 'processing' })
  finish({ kind: 'done', media: [], text: 'done' })
  await until('the first run is done', async () => (await runOf(working)).status === 'completed')
  t.equal(submitted, 1)
  t.equal((await customer.run(order())).status, 503)
  t.same((await verifyLog(core.log, { isDense: true }))?.faults, [])
})
