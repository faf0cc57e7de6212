import t from 'tap'
import { fromMinorUnits, toMinorUnits, unfit } from '../../../src/adapters/payments/minor-units.ts'

t.test('money is counted in the units of Stripe, and back', t => {
  const cases: [amount: string, currency: string, units: number][] = [
    ['12.50', 'EUR', 1250],
    ['0.01', 'USD', 1],
    ['0.00', 'USD', 0],
    ['500', 'JPY', 500],
    ['5.120', 'KWD', 5120],
    ['0.010', 'BHD', 10],
    // Without decimals by now, but counted in hundredths.
    ['5', 'ISK', 500],
    ['3700', 'UGX', 370_000],
    // Two decimals in charges, none in payouts.
    ['10.45', 'HUF', 1045],
    ['800.08', 'TWD', 80_008],
    // Two decimals by ISO 4217, none at Stripe.
    ['4500.00', 'MGA', 4500],
    ['90071992547409.91', 'EUR', 9_007_199_254_740_991],
  ]
  for (const [amount, currency, units] of cases) {
    t.equal(toMinorUnits({ amount, currency }), units, `${amount} ${currency}`)
    t.same(fromMinorUnits(units, currency.toLowerCase()), { amount, currency }, `${units} ${currency}`)
    t.equal(unfit({ amount, currency }), undefined)
  }
  t.equal(toMinorUnits({ amount: '12.5', currency: 'EUR' }), 1250, 'missing decimals are zero')
  t.equal(toMinorUnits({ amount: '500.00', currency: 'JPY' }), 500, 'further decimals may be zero')
  t.same(fromMinorUnits(1234, 'isk'), { amount: '12.34', currency: 'ISK' }, 'a fee may have parts of a króna')
  t.same(fromMinorUnits(-1250, 'eur'), { amount: '-12.50', currency: 'EUR' })
  t.end()
})

t.test('amounts that Stripe cannot take exactly are unfit', t => {
  const cases: [amount: string, currency: string, why: RegExp][] = [
    ['12.505', 'EUR', /^12\.505 EUR has more decimals than Stripe takes$/],
    ['500.5', 'JPY', /^500\.5 JPY has more decimals/],
    ['5.5', 'ISK', /^5\.5 ISK is not a multiple of 1 ISK, which Stripe requires$/],
    ['4500.50', 'MGA', /^4500\.50 MGA has more decimals/],
    ['5.125', 'KWD', /^5\.125 KWD is not a multiple of 0\.010 KWD, which Stripe requires$/],
    ['5.1205', 'KWD', /^5\.1205 KWD has more decimals/],
    ['-1.00', 'EUR', /^"-1\.00" is not an amount of money$/],
    ['1e3', 'EUR', /is not an amount/],
    ['', 'EUR', /is not an amount/],
    ['1,50', 'EUR', /is not an amount/],
    ['900719925474099.00', 'EUR', /is more than Stripe takes$/],
    ['1.00', 'eur', /^"eur" is not a currency in use$/],
    ['1.00', 'XXX', /^"XXX" is not a currency in use$/],
  ]
  for (const [amount, currency, why] of cases) {
    t.match(unfit({ amount, currency }), why, `${amount} ${currency}`)
    t.throws(() => toMinorUnits({ amount, currency }), RangeError)
  }
  t.end()
})
