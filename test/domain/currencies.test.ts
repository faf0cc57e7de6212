import t from 'tap'
import { decimalsOf } from '../../src/domain/currencies.ts'

t.test('a currency in use has its decimals by ISO 4217, whatever is customary', async t => {
  const codes = ['EUR', 'HUF', 'IDR', 'COP', 'XCG', 'ZWG', 'JPY', 'KRW', 'ISK', 'XOF', 'KWD', 'TND']
  t.same(codes.map(decimalsOf), [2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 3, 3])
})

t.test('what is gone, or was never money, is no currency in use', async t => {
  for (const code of ['DEM', 'HRK', 'BGN', 'ANG', 'SLL', 'ZWL', 'CUC', 'BTC', 'XAU', 'XXX', 'XTS', 'eur', ''])
    t.equal(decimalsOf(code), undefined, code)
})
