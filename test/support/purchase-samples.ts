import type { AccountEvent } from '../../schemas/account-events.ts'
import type { PurchaseId } from '../../schemas/primitives.ts'
import type { AccountCommand } from '../../src/domain/account/commands.ts'
import { toMicros } from '../../src/domain/money.ts'

export const purchaseId = (number = 1): PurchaseId => `pur_${String(number).padStart(26, '0')}`

interface Sample {
  purchase?: number
  credits?: number
  bonus?: number
  amount?: string
  currency?: string
  tax?: string
  validDays?: number
  keepsMethod?: true
  /** With the consent to begin at once. */
  withdrawalDays?: number
}

const opening = ({
  purchase = 1,
  credits = 500,
  bonus,
  amount = '50.00',
  currency = 'EUR',
  validDays,
  keepsMethod,
  withdrawalDays,
}: Sample) => ({
  purchaseId: purchaseId(purchase),
  creditsMicros: toMicros(credits),
  ...(bonus !== undefined && { bonusMicros: toMicros(bonus) }),
  ...{ amount, currency, catalogRevision: 3 },
  ...(validDays !== undefined && { validDays }),
  ...(keepsMethod && { keepsMethod }),
  ...(withdrawalDays !== undefined && { withdrawalDays, beginAtOnce: true as const }),
})

export const purchaseOpened = (sample: Sample = {}): AccountEvent => ({
  type: 'PurchaseOpened',
  data: opening(sample),
})

export const openPurchase = (sample: Sample = {}, perHour = 10) =>
  ({ type: 'OpenPurchase', purchase: opening(sample), perHour }) satisfies AccountCommand

export const paymentId = (number = 1) => `pi_${number}`

export const payPurchase = ({ purchase = 1, amount = '50.00', currency = 'EUR', tax }: Sample = {}) =>
  ({
    type: 'PayPurchase',
    payment: {
      ...{ purchaseId: purchaseId(purchase), paymentId: paymentId(purchase), amount, currency, country: 'DE' },
      ...(tax !== undefined && { tax }),
    },
  }) satisfies AccountCommand

export const setTopUp = ({ under = 100, credits = 500, monthlyAmount = '120.00' } = {}): AccountCommand => ({
  type: 'SetTopUp',
  settings: { underMicros: toMicros(under), creditsMicros: toMicros(credits), monthlyAmount, currency: 'EUR' },
})

export const openTopUp = (number: number, sample: Omit<Sample, 'purchase'> = {}): AccountCommand => ({
  ...openPurchase({ purchase: number, ...sample }),
  type: 'OpenTopUp',
})

export const failTopUp = (number?: number, code = 'insufficient_funds'): AccountCommand => ({
  type: 'FailTopUp',
  code,
  purchaseId: number === undefined ? undefined : purchaseId(number),
})

export const declareWithdrawal = (claimId = 'w1') =>
  ({ type: 'DeclareWithdrawal', purchaseId: purchaseId(), claimId }) satisfies AccountCommand
export const recordFee = ({ purchase = 1, amount = '1.05', currency = 'USD' }: Sample = {}) =>
  ({ type: 'RecordFee', purchaseId: purchaseId(purchase), amount, currency }) satisfies AccountCommand

interface Claim {
  purchase?: number
  claim?: string
  amount?: string
  currency?: string
}

export const recordRefund = ({ purchase = 1, claim = 're_1', amount = '50.00', currency = 'EUR' }: Claim = {}) =>
  ({
    ...{ type: 'RecordRefund', purchaseId: purchaseId(purchase), claimId: claim, amount, currency },
    hasFailed: false,
  }) satisfies AccountCommand

export const recordDispute = (
  { purchase = 1, claim = 'dp_1', amount = '50.00', currency = 'EUR' }: Claim = {},
  status: 'open' | 'won' | 'lost' = 'open',
) =>
  ({
    type: 'RecordDispute',
    ...{ purchaseId: purchaseId(purchase), claimId: claim, amount, currency, status },
  }) satisfies AccountCommand
