import t from 'tap'
import type { FamilyFault } from '../../../src/domain/catalog/validity.ts'
import { describeFamilyFault } from '../../../src/transports/refusals/catalog.ts'

t.test('the message of a fault names the family or endpoint and the remedy', async t => {
  const id = 'lumen-t2i'
  const expected: [FamilyFault, string][] = [
    [{ id: 'lumen', code: 'name_taken', name: 'glow' }, 'lumen: the name glow belongs to another family'],
    [{ id: 'lumen', code: 'kind_repeated' }, 'lumen has two endpoints of one kind'],
    [{ id: 'lumen-edit', code: 'id_mismatch', expectedId: 'lumen-i2i' }, 'lumen-edit: the id must be lumen-i2i'],
    [
      { id, code: 'parameter_unknown', parameter: 'size' },
      'lumen-t2i: the price depends on size, which is not a parameter',
    ],
    [
      { id, code: 'quantity_uncountable', parameter: 'count' },
      'lumen-t2i: count is a quantity and so needs a minimum above 0, a maximum, and whole millionths',
    ],
    [{ id, code: 'values_not_listed', parameter: 'size' }, 'lumen-t2i: size has multipliers and so needs an enum'],
    [{ id, code: 'multiplier_missing', parameter: 'size', value: 'L' }, 'lumen-t2i: size L has no multiplier'],
  ]
  for (const [fault, message] of expected) t.equal(describeFamilyFault(fault), message)
})
