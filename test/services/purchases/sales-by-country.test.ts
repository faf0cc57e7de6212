import t from 'tap'
import type { PurchaseRow } from '../../../schemas/views.ts'
import { salesByCountry } from '../../../src/services/purchases/sales-by-country.ts'

const purchase = (parts: Partial<PurchaseRow>): PurchaseRow => ({
  ...{ accountId: 'acct_1', purchaseId: 'pur_1', status: 'paid', createdAt: '2026-11-01T00:00:00.000Z' },
  ...{ creditsMicros: 1_000_000, amount: '0.10', currency: 'EUR', ...parts },
})

t.test('sums are exact in each currency, and have its decimals', async t => {
  const many = Array.from({ length: 30 }, () => purchase({ country: 'DE', amount: '0.10', tax: '0.01' }))
  const rows = [
    ...many,
    purchase({ country: 'DE', amount: '99999999999.99' }),
    purchase({ country: 'JP', amount: '1200', currency: 'JPY', tax: '109' }),
    purchase({ country: 'KW', amount: '0.010', currency: 'KWD' }),
    purchase({ amount: '1.00' }),
    purchase({ country: 'DE', status: 'open', amount: '7.00' }),
  ]
  const none = { refunded: '0.00', disputed: '0.00' }
  t.same(salesByCountry(rows), [
    { country: undefined, currency: 'EUR', purchases: 1, amount: '1.00', tax: '0.00', ...none },
    { country: 'DE', currency: 'EUR', purchases: 31, amount: '100000000002.99', tax: '0.30', ...none },
    { country: 'JP', currency: 'JPY', purchases: 1, amount: '1200', tax: '109', refunded: '0', disputed: '0' },
    {
      country: 'KW',
      currency: 'KWD',
      purchases: 1,
      amount: '0.010',
      tax: '0.000',
      refunded: '0.000',
      disputed: '0.000',
    },
  ])
})

t.test('refunds and disputes count in their own currency, unless they were reversed', async t => {
  const at = '2026-11-02T00:00:00.000Z'
  const claims = [
    { claimId: 're_1', kind: 'refund', at, amount: '0.02', currency: 'EUR' },
    { claimId: 're_2', kind: 'refund', at, amount: '0.03', currency: 'EUR', reversedAt: at },
    { claimId: 'du_1', kind: 'dispute', at, amount: '0.06', currency: 'USD' },
  ] as const
  t.same(salesByCountry([purchase({ country: 'DE', claims })]), [
    { country: 'DE', currency: 'EUR', purchases: 1, amount: '0.10', tax: '0.00', refunded: '0.02', disputed: '0.00' },
    { country: 'DE', currency: 'USD', purchases: 0, amount: '0.00', tax: '0.00', refunded: '0.00', disputed: '0.06' },
  ])
})
