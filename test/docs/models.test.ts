import t from 'tap'
import { bindings } from '../../src/catalog/shipped.ts'

/** The longest notice that operators get of a model's end: `tollgate providers list` warns as long ahead. */
const NOTICE_DAYS = 60

t.test('no model ships that its provider was to turn off within 60 days of being looked up', async t => {
  for (const { endpoint, model, source, retiresAt } of bindings) {
    const lastDay = new Date(Date.parse(source.on) + NOTICE_DAYS * 86_400_000).toISOString().slice(0, 10)
    t.ok(retiresAt === undefined || retiresAt > lastDay, `${endpoint} ${model}`)
  }
})
