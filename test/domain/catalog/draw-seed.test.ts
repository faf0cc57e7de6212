import t from 'tap'
import { drawSeed } from '../../../src/domain/catalog/inputs.ts'
import { runId } from '../../support/account-samples.ts'
import { parameters } from '../../support/catalog-samples.ts'

const draw = (seed: Record<string, unknown>, run = 1) => drawSeed(parameters({ seed }), runId(run))

t.test('the ID of a run gives a seed within the bounds', async t => {
  const bounds = { type: 'integer', minimum: 5, maximum: 7 }
  const drawn = Array.from({ length: 100 }, (_, run) => draw(bounds, run + 1))
  t.same(new Set(drawn), new Set([5, 6, 7]))
  t.equal(draw(bounds, 3), draw(bounds, 3))
})

t.test('an endpoint without a seed, or with one of unknown bounds, gets none', async t => {
  t.equal(drawSeed(parameters(), runId()), undefined)
  t.equal(draw({ type: 'integer', minimum: 0 }), undefined)
  t.equal(draw({ type: 'string', minimum: 0, maximum: 9 }), undefined)
})
