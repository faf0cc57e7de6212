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

t.test('if the input is encrypted, the values that the receipt names count', async t => {
  const encrypted = {}
  t.equal(ruleFault(receiptWith({ equals: true }), rule, encrypted), undefined)
  t.match(ruleFault(receiptWith({ equals: false }), rule, encrypted), /which the price list lacks/)
  t.match(ruleFault(receiptWith({ equals: true, parameter: 'sound' }), rule, encrypted), /which the price list lacks/)
  const long: PriceRule = {
    ...{ baseMicros: 0, quantities: ['seconds'], multipliers: { seconds: { '5': 1_000_000 } } },
    tokens: { input: 1, cached_input: 1, output: 2, thinking: 2 },
    surcharges: [{ when: { parameter: 'seconds', equals: 5 }, usdMicros: 10_000 }],
  }
  const tokens = (counts: object) =>
    Object.entries({ input: 9, cached_input: 0, output: 1024, thinking: 0, ...counts }).map(([tokens, count]) => ({
      ...{ kind: 'tokens', tokens, count, perMillionMicros: tokens === 'input' || tokens === 'cached_input' ? 1 : 2 },
    }))
  const lines = [
    { kind: 'quantity', parameter: 'seconds', value: 5 },
    { kind: 'multiplier', parameter: 'seconds', value: '5', factorMicros: 1_000_000 },
    { kind: 'surcharge', parameter: 'seconds', equals: 5, usdMicros: 10_000, amountMicros: 1_000_000 },
  ]
  const receiptOf = (...all: object[]) => ({ ...receiptWith({}), lines: all }) as Receipt
  t.equal(ruleFault(receiptOf(...lines, ...tokens({})), long, encrypted), undefined, 'one parameter in several lines')
  const two = tokens({ thinking: 5 })
  t.match(ruleFault(receiptOf(...lines, ...two), long, encrypted), /"tokens thinking 5 2", which the price list lacks/)
  t.match(
    ruleFault(receiptOf(...lines.slice(1), ...tokens({})), long, encrypted),
    /lacks the line "quantity seconds 5"/,
  )
})
