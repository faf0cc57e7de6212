import t from 'tap'
import { picture } from '../support/client.ts'
import { openAccount, startService } from '../support/service.ts'
import { isLong } from '../support/test-length.ts'

const RUNS = isLong ? 400 : 100

t.test(`of ${RUNS} concurrent runs with credits for ten, ten are accepted and the others refused`, async t => {
  const service = await startService(t)
  const customer = await openAccount(service, { credits: 100 })
  const replies = await Promise.all(Array.from({ length: RUNS }, () => customer.run(picture)))

  const made = replies.filter(reply => reply.status === 200)
  const refused = replies.filter(reply => reply.status === 402)
  t.equal(made.length, 10)
  t.equal(refused.length, RUNS - 10)
  t.equal(new Set(made.map(reply => reply.body.run_id)).size, 10)
  t.same(new Set(made.map(reply => reply.body.status)), new Set(['completed']))
  for (const { body } of refused) t.equal(body.error.code, 'insufficient_credits')
  t.equal(await customer.balance(), 0)
})
