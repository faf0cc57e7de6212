import t from 'tap'
import type { Binding } from '../../../schemas/binding.ts'
import { retiringOf, retiringText } from '../../../src/cli/providers/retiring.ts'

const NOW_MS = Date.parse('2026-11-24T12:00:00.000Z')

const binding = (model: string, change: Partial<Binding> = {}): Binding => ({
  ...{ endpoint: 'lumen-t2i', provider: 'fal', model, operation: 'queue', parameters: [] },
  source: { at: 'https://fal.ai', on: '2026-11-24' },
  ...change,
})

t.test('bindings are warned of 60 days before they retire, and after it', async t => {
  const all = [
    binding('stays'),
    binding('later', { retiresAt: '2027-01-24' }),
    binding('soon', { retiresAt: '2027-01-23', replacedBy: 'next' }),
    binding('gone', { retiresAt: '2026-11-24' }),
  ]
  const found = retiringOf(all, NOW_MS)
  t.same(found, [
    { endpoint: 'lumen-t2i', binding: 'fal/gone', retires_at: '2026-11-24', replaced_by: null },
    { endpoint: 'lumen-t2i', binding: 'fal/soon', retires_at: '2027-01-23', replaced_by: 'next' },
  ])
  t.same(
    found.map(each => retiringText(each, NOW_MS)),
    [
      'fal/gone of lumen-t2i retired on 2026-11-24; replacement: none.',
      'fal/soon of lumen-t2i retires on 2027-01-23; replacement: next.',
    ],
  )
})
