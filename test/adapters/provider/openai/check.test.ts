import t from 'tap'
import { createOpenAiProvider } from '../../../../src/adapters/provider/openai/provider.ts'
import { vendorDependencies } from '../../../support/vendors/jobs.ts'
import { errorBody } from '../../../support/vendors/openai.ts'
import { reply } from '../../../support/vendors/vendor-server.ts'
import { open, signal } from './support.ts'

t.test('a check lists the models', async t => {
  const { server, check } = await open(t)
  await check()
  t.same(
    server.requests.map(({ method, path }) => `${method} ${path}`),
    ['GET /v1/models'],
  )
})

t.test('a check that fails says what to look at, and not the key', async t => {
  const { server } = await open(t)
  const other = 'sk-wrong-987654321'
  const provider = createOpenAiProvider(vendorDependencies(t, other, server.url))
  const fault = async () =>
    String(
      await provider.check?.(signal).then(
        () => 'none',
        error => error.message,
      ),
    )
  const words = await fault()
  t.match(words, /refuses the key; check OPENAI_API_KEY/)
  t.notMatch(words, other)
  server.answer = response => reply(response, 429, errorBody(`No credit for ${other}`, 'x', 'credit_balance_exhausted'))
  t.match(await fault(), /no credit or quota left.*No credit for …/)
  server.answer = response => reply(response, 200, { models: [] })
  t.match(await fault(), /check OPENAI_BASE_URL/)
  server.answer = response => response.destroy()
  t.match(await fault(), /check OPENAI_BASE_URL/)
})
