import t from 'tap'
import { MAX_GRANT_MICROS } from '../../../schemas/primitives.ts'
import { account } from '../../../src/domain/account/account.ts'
import { fromMicros, toMicros } from '../../../src/domain/money.ts'
import {
  accepted,
  failed,
  failRun,
  grantCredits,
  granted,
  opened,
  refunded,
  started,
} from '../../support/account-samples.ts'
import { given } from '../../support/given.ts'

/** Credits that leave less than one more grant of the largest size until no double counts them any more. */
const MUCH = 9 * fromMicros(MAX_GRANT_MICROS)
const ROOM_MICROS = Number.MAX_SAFE_INTEGER - toMicros(MUCH)

const grantMicros = (amountMicros: number) => ({ type: 'GrantCredits', amountMicros, reason: 'a gift' }) as const

const grantedMicros = (amountMicros: number, balanceAfterMicros: number) =>
  ({ type: 'CreditsGranted', data: { amountMicros, balanceAfterMicros, reason: 'a gift' } }) as const

t.test('a grant adds to the balance and says what it is now', async () => {
  given(account, opened(), granted(100))
    .when(grantCredits(0.5))
    .then(granted(0.5, { after: 100.5 }))
})

t.test('a grant past what can be counted is refused, and the last that fits is not', async () => {
  const rich = given(account, opened(), granted(MUCH))
  rich.when(grantMicros(ROOM_MICROS + 1)).refused('balance_too_high', { balanceMicros: toMicros(MUCH) })
  rich.when(grantMicros(ROOM_MICROS)).then(grantedMicros(ROOM_MICROS, Number.MAX_SAFE_INTEGER))
})

t.test('a grant leaves room for every refund that may still come', async () => {
  const spent = given(account, opened(), granted(MUCH), ...accepted({ credits: 10, after: MUCH - 10 }))
  const balanceMicros = toMicros(MUCH - 10)
  spent.when(grantMicros(ROOM_MICROS + 1)).refused('balance_too_high', { balanceMicros })
  spent.when(grantMicros(ROOM_MICROS)).then(grantedMicros(ROOM_MICROS, balanceMicros + ROOM_MICROS))
})

t.test('a failed run gives back what it cost, however the balance changed since', async () => {
  given(account, opened(), granted(20), ...accepted({ credits: 15, after: 5 }), started(), granted(100, { after: 105 }))
    .when(failRun(1, 'provider_timeout'))
    .then(failed(1, 'provider_timeout'), refunded(15, { after: 120 }))
})
