import t from 'tap'
import type { PriceRule } from '../../../schemas/catalog.ts'
import { type Receipt, ruleFault } from '../../../src/audit/verify/prices.ts'

const rule: PriceRule = {
  baseMicros: 1_000_000,
  quantities: [],
  multipliers: {},
  surcharges: [{ when: { parameter: 'audio', equals: true }, usdMicros: 10_000 }],
}
const input = { prompt: 'a lake', audio: true }

const receiptWith = (surcharge: object): Receipt => ({
  catalogRevision: 1,
  model: 'film',
  endpoint: 'film-t2v',
  lines: [
    { kind: 'base', amountMicros: 1_000_000 },
    { kind: 'surcharge', parameter: 'audio', usdMicros: 10_000, amountMicros: 1_000_000, ...surcharge },
  ],
  totalMicros: 2_000_000,
  usdPerCreditMicros: 10_000,
})

t.test('a surcharge is for the value that the price list names', async t => {
  t.equal(ruleFault(receiptWith({ equals: true }), rule, input), undefined)
  for (const equals of [false, 'true', 1])
    t.match(ruleFault(receiptWith({ equals }), rule, input), /has the line "surcharge audio .*", which the price list/)
})

t.test('a surcharge of format 1 is for the value in the input', async t => {
  t.equal(ruleFault(receiptWith({}), rule, input), undefined)
  t.match(ruleFault(receiptWith({}), rule, { prompt: 'a lake', audio: false }), /which the price list lacks/)
})
