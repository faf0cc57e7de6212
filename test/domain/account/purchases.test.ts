import fc from 'fast-check'
import t from 'tap'
import { totalOf } from '../../../src/audit/books.ts'
import type { AuditedEvent, Rule } from '../../../src/audit/fault.ts'
import { Notices } from '../../../src/audit/verify/notices.ts'
import { Purchases } from '../../../src/audit/verify/purchases.ts'
import { Withdrawals } from '../../../src/audit/verify/withdrawals.ts'
import { Auditor } from '../../auditor/auditor.ts'
import { completeRun, failRun, grantCredits, queueRun } from '../../support/account-samples.ts'
import { World } from '../../support/account-world.ts'
import {
  declareWithdrawal,
  openPurchase,
  payPurchase,
  purchaseId,
  recordDispute,
  recordFee,
  recordRefund,
} from '../../support/purchase-samples.ts'

t.test('the fee of a payment is recorded once', async t => {
  const world = new World()
  t.same(world.do(recordFee()), ['purchase_not_found'])
  world.do(openPurchase())
  t.same(world.do(recordFee()), ['purchase_not_paid'])
  world.do(payPurchase())
  t.same(world.do(recordFee()), ['FeeCharged'])
  t.same(world.do(recordFee({ amount: '9.99' })), [])
})

const bought = [openPurchase(), payPurchase()]

t.test('a payment grants the credits of its purchase once, however often it is reported', async t => {
  const world = new World()
  t.same(world.do(payPurchase()), ['purchase_not_found'])
  t.same(world.do(openPurchase()), ['PurchaseOpened'])
  t.same(world.do(openPurchase()), [])
  t.same(world.do(payPurchase()), ['PurchasePaid', 'CreditsGranted'])
  t.same(world.do(payPurchase()), [])
  t.equal(world.credits, 500)
})

t.test('a payment that arrives after its purchase was closed grants its credits', async t => {
  const world = new World(openPurchase())
  t.same(world.do({ type: 'ClosePurchase', purchaseId: purchaseId(), reason: 'expired' }), ['PurchaseClosed'])
  t.same(world.do({ type: 'ClosePurchase', purchaseId: purchaseId(), reason: 'failed' }), [])
  t.same(world.do(payPurchase()), ['PurchasePaid', 'CreditsGranted'])
  t.same(world.do({ type: 'ClosePurchase', purchaseId: purchaseId(), reason: 'failed' }), [])
})

t.test('the bonus is a free lot of its own, and both expire', async t => {
  const world = new World(openPurchase({ bonus: 50, validDays: 30 }))
  t.same(world.do(payPurchase()), ['PurchasePaid', 'CreditsGranted', 'CreditsGranted'])
  t.same(world.book.balance, { freeMicros: 50e6, paidMicros: 500e6 })
  t.same(world.state.lotOrder, [2, 1])
  world.days = 30
  t.same(world.do({ type: 'ExpireCredits', lot: 1 }), ['CreditsExpired'])
  t.equal(world.credits, 50)
})

t.test('an account opens only so many purchases an hour', async t => {
  const world = new World()
  for (let purchase = 1; purchase <= 3; purchase++) t.same(world.do(openPurchase({ purchase }, 3)), ['PurchaseOpened'])
  t.same(world.do(openPurchase({ purchase: 4 }, 3)), ['too_many_purchases'])
  world.days = 1 / 23
  t.same(world.do(openPurchase({ purchase: 4 }, 3)), ['PurchaseOpened'])
})

t.test('a purchase with a right of withdrawal is opened only with the consent to begin at once', async t => {
  const world = new World()
  const { purchase, ...command } = openPurchase({ withdrawalDays: 14 })
  const { beginAtOnce: _, ...without } = { beginAtOnce: true, ...purchase }
  t.same(world.do({ ...command, purchase: without }), ['begin_at_once_required'])
  t.same(world.do({ ...command, purchase }), ['PurchaseOpened'])
})

t.test('each refund takes its share of what is left of its own lot', async t => {
  const world = new World(grantCredits(100), ...bought)
  t.same(world.do(recordRefund({ claim: 're_1', amount: '10.00' })), ['PaymentRefunded', 'CreditsWithdrawn'])
  t.equal(world.credits, 500)
  t.same(world.do(recordRefund({ claim: 're_1', amount: '10.00' })), [])
  t.same(world.do(recordRefund({ claim: 're_2', amount: '0.01' })), ['PaymentRefunded', 'CreditsWithdrawn'])
  t.equal(world.credits, 499.9)
  world.run(1, 300)
  t.same(world.do(recordRefund({ claim: 're_3', amount: '39.99' })), ['PaymentRefunded', 'CreditsWithdrawn'])
  t.equal(world.credits, 0, 'the free credits were used first; of the purchase, 200 were used')
  t.equal(world.owed, 0, 'a refund is the choice of the operator')
})

t.test('a refund that fails gives the credits back, whichever report comes first', async t => {
  const world = new World(...bought)
  world.do(recordRefund({ amount: '10.00' }))
  t.same(world.do({ ...recordRefund({ amount: '10.00' }), hasFailed: true }), ['RefundFailed', 'CreditsGranted'])
  t.equal(world.credits, 500)
  t.equal(world.state.lots.size, 1)
  t.same(world.do({ ...recordRefund({ claim: 're_2' }), hasFailed: true }), ['RefundFailed'])
  t.same(world.do(recordRefund({ claim: 're_2' })), [])
  t.equal(world.credits, 500)
})

t.test('a refund by the operator takes the credits before the money is returned', async t => {
  const world = new World(...bought)
  world.run(1, 100)
  const request = (claimId: string, amount?: string) =>
    ({ type: 'RequestRefund', purchaseId: purchaseId(), claimId, amount, reason: 'asked' }) as const
  t.same(world.do(request('r1', '40.01')), ['refund_above_rest'])
  t.same(world.do(request('r1', '5.00')), ['RefundRequested', 'CreditsWithdrawn'])
  t.same(world.do(request('r1', '5.00')), [])
  t.same(world.do(recordRefund({ claim: 'r1', amount: '5.00' })), [], 'the report of the same refund')
  const accept = { type: 'AcceptRefund', purchaseId: purchaseId(), claimId: 'r1', refundId: 're_1' } as const
  t.same(world.do(accept), ['RefundAccepted'])
  t.same(world.do(accept), [])
  t.same(world.do(request('r2')), ['RefundRequested', 'CreditsWithdrawn'])
  t.equal(world.credits, 0)
  const last = world.events.findLast(({ type }) => type === 'RefundRequested')
  t.match(last?.data, { amount: '35.00', creditsMicros: 350e6 })
  t.same(world.do(request('r3')), ['refund_above_rest'])
})

t.test('a claim waits for a requested refund that the payment does not cover beside it', async t => {
  const request = { type: 'RequestRefund', purchaseId: purchaseId(), claimId: 'r1', amount: '30.00' } as const
  for (const claim of [recordRefund({ amount: '20.01' }), recordDispute({ amount: '20.01' })]) {
    const world = new World(...bought)
    world.do({ ...request, reason: 'asked' })
    t.same(world.do(claim), ['refunds_uncovered'])
    t.same(world.do({ ...recordRefund({ claim: 'r1' }), hasFailed: true }), ['RefundFailed', 'CreditsGranted'])
    world.do(claim)
    t.equal(world.credits, 299.9)
    const covered = new World(...bought)
    covered.do({ ...request, reason: 'asked' })
    covered.do({ ...claim, amount: '20.00' })
    t.equal(covered.credits, 0)
  }
})

t.test('a refund takes the share of the bonus that is left', async t => {
  const world = new World(openPurchase({ bonus: 100 }), payPurchase())
  world.run(1, 30)
  world.do(recordRefund({ amount: '25.00' }))
  t.same(world.book.balance, { freeMicros: 20e6, paidMicros: 250e6 })
  world.do(recordRefund({ claim: 're_2', amount: '25.00' }))
  t.same(world.book.balance, { freeMicros: 0, paidMicros: 0 })
})

t.test('a dispute before use withdraws the credits, and owes nothing', async t => {
  const world = new World(...bought)
  t.same(world.do(recordDispute()), ['PaymentDisputed', 'CreditsWithdrawn'])
  t.same([world.credits, world.owed], [0, 0])
  t.same(world.do(recordDispute({}, 'lost')), [])
  t.same(world.do(recordDispute({}, 'won')), ['DisputeWon', 'CreditsGranted'])
  t.same([world.credits, world.owed], [500, 0])
})

t.test('a dispute after use makes a debt, which stops runs until the next grant pays it', async t => {
  const world = new World(...bought)
  world.run(1, 400)
  world.do(completeRun(1))
  t.same(world.do(recordDispute()), ['PaymentDisputed', 'CreditsWithdrawn', 'CreditsOwed'])
  t.same([world.credits, world.owed], [0, 400])
  t.same(world.do(grantCredits(100, 'a')), ['CreditsGranted', 'CreditsWithdrawn', 'CreditsSettled'])
  t.same([world.credits, world.owed], [0, 300])
  t.same(world.do(queueRun({ run: 2 })), ['credits_owed'])
  world.do(openPurchase({ purchase: 2 }))
  t.same(world.do(payPurchase({ purchase: 2 })), [
    'PurchasePaid',
    'CreditsGranted',
    'CreditsWithdrawn',
    'CreditsSettled',
  ])
  t.same([world.credits, world.owed], [200, 0])
  t.same(world.run(2, 10), ['CreditsDebited', 'RunQueued', 'RunStarted'])
})

t.test('a dispute that is won ends its debt and returns what was paid of it', async t => {
  const world = new World(...bought)
  world.run(1, 400)
  world.do(completeRun(1))
  world.do(recordDispute())
  world.do(grantCredits(100, 'a'))
  t.same(world.do(recordDispute({}, 'won')), ['DisputeWon', 'CreditsSettled', 'CreditsGranted'])
  t.same([world.credits, world.owed], [200, 0])
  t.same(world.do(recordDispute({}, 'won')), [])
  t.same(world.do(recordDispute()), [], 'an old report')
})

t.test('a claim in another currency is for all that was paid', async t => {
  const world = new World(...bought)
  world.do(recordDispute({ amount: '1.00', currency: 'USD' }))
  t.equal(world.credits, 0)
})

t.test('a dispute that is won, and lost on appeal, takes the credits again', async t => {
  const world = new World(...bought)
  for (const status of ['open', 'won'] as const) world.do(recordDispute({}, status))
  t.equal(world.credits, 500)
  t.same(world.do(recordDispute({}, 'lost')), ['PaymentDisputed', 'CreditsWithdrawn'])
  t.same(world.do(recordDispute({}, 'lost')), [])
  t.equal(world.credits, 0)
})

t.test('what a refund that fails had taken passes on to a dispute, and comes back with it', async t => {
  const world = new World(...bought)
  world.run(1, 100)
  world.do(recordRefund({ amount: '30.00' }))
  world.do(recordDispute())
  t.same([world.credits, world.owed], [0, 100])
  world.do({ ...recordRefund({ amount: '30.00' }), hasFailed: true })
  t.same([world.credits, world.owed], [0, 100])
  const passedOn = world.events.findLast(({ type }) => type === 'PaymentDisputed')
  t.match(passedOn?.data, { claimId: 're_1 passed on', amount: '0.00', creditsMicros: 300e6 })
  world.do(recordDispute({}, 'won'))
  t.same([world.credits, world.owed], [400, 0])
  t.same(faultsOf(world), [])
})

t.test('claims that are no longer needed end one after another, as each pays what the next one owes', async t => {
  const world = new World(openPurchase({ credits: 35 }), payPurchase())
  world.do(recordRefund({ claim: 're_1', amount: '1.00' }))
  world.run(1, 1)
  world.do(recordRefund({ claim: 're_2', amount: '2.00' }))
  world.do(recordDispute({ claim: 'dp_1', amount: '46.00' }))
  world.do(recordDispute({ claim: 'dp_2', amount: '4.00' }))
  for (const claim of ['re_1', 're_2']) world.do({ ...recordRefund({ claim }), hasFailed: true })
  t.same([world.credits, world.owed], [0, 1])
  world.do(recordRefund({ claim: 're_3', amount: '1.00' }))
  world.do(recordDispute({ claim: 'dp_1', amount: '46.00' }, 'won'))
  t.same([world.credits, world.owed], [30.5, 0])
  t.same(faultsOf(world), [])
})

t.test('a claim after others have ended takes no less than nothing', async t => {
  const world = new World(...bought)
  world.do(recordRefund({ claim: 're_1' }))
  world.do(recordDispute({ claim: 'dp_1', amount: '20.00' }))
  world.do({ ...recordRefund({ claim: 're_1' }), hasFailed: true })
  t.equal(world.credits, 300)
  world.do(recordRefund({ claim: 're_2', amount: '1.00' }))
  world.do(recordDispute({ claim: 'dp_1', amount: '20.00' }, 'won'))
  t.equal(world.credits, 490)
  world.do(recordRefund({ claim: 're_3', amount: '2.00' }))
  t.equal(world.credits, 470)
  t.same(faultsOf(world), [])
})

t.test('credits that a run gives back pay the debt for them', async t => {
  const world = new World(...bought)
  world.run(1, 400)
  world.do(recordDispute())
  t.same([world.credits, world.owed], [0, 400])
  t.same(world.do(failRun(1)), ['RunFailed', 'CreditsRefunded', 'CreditsWithdrawn', 'CreditsSettled'])
  t.same([world.credits, world.owed], [0, 0])
})

t.test('a withdrawal that takes the balance below the limit of the owner raises the notice of it', async t => {
  const world = new World()
  world.do({ type: 'SetNotices', settings: { email: false, url: 'https://example.com', balanceUnderMicros: 10e6 } })
  for (const command of [openPurchase({ bonus: 20 }), payPurchase()]) world.do(command)
  world.run(1, 15)
  const events = world.do(recordDispute())
  t.same(events, ['PaymentDisputed', 'CreditsWithdrawn', 'NoticeRaised', 'CreditsWithdrawn'])
  const raised = world.events.find(({ type }) => type === 'NoticeRaised')
  t.match(raised?.data, { number: 1, notice: { kind: 'balance_low', balanceMicros: 5e6, underMicros: 10e6 } })
})

t.test('a payment of an erased account is recorded without its address', async t => {
  const world = new World(openPurchase())
  world.do({ type: 'EraseAccount', reason: 'asked' })
  const { payment } = payPurchase()
  world.do({ type: 'PayPurchase', payment: { ...payment, address: { line1: 'Street 1' } } })
  const paid = world.events.find(({ type }) => type === 'PurchasePaid')
  t.match(paid?.data, { paymentId: 'pi_1' })
  t.notOk('address' in (paid?.data ?? {}))
  t.equal(world.credits, 500)
})

t.test('what has expired is not owed', async t => {
  const world = new World(openPurchase({ validDays: 10 }), payPurchase())
  world.run(1, 100)
  world.do(completeRun(1))
  world.days = 10
  world.do({ type: 'ExpireCredits', lot: 1 })
  world.do(recordDispute())
  t.same([world.credits, world.owed], [0, 100])
})

t.test('a claim on a purchase that is not paid waits for the payment', async t => {
  const world = new World(openPurchase())
  t.same(world.do(recordDispute()), ['purchase_not_paid'])
  t.same(world.do(recordRefund()), ['purchase_not_paid'])
  t.same(world.do({ ...recordRefund({ purchase: 2 }) }), ['purchase_not_found'])
})

t.test('refunds in any order and of any currency take all credits in the end', async () => {
  const shares = fc.array(fc.integer({ min: 1, max: 997 }), { minLength: 1, maxLength: 8 })
  const samples = fc.record({
    currency: fc.constantFrom('JPY', 'EUR', 'KWD'),
    shares,
    credits: fc.integer({ min: 1, max: 1e6 }),
  })
  fc.assert(
    fc.property(samples, ({ currency, shares, credits }) => {
      const decimals = { JPY: 0, EUR: 2, KWD: 3 }[currency] as number
      const text = (minor: number) => (minor / 10 ** decimals).toFixed(decimals)
      const amount = text(shares.reduce((sum, share) => sum + share, 0))
      const world = new World(openPurchase({ credits, amount, currency }), payPurchase({ amount, currency }))
      const order = [...shares.keys()].toSorted((one, other) => (shares[one] ?? 0) - (shares[other] ?? 0))
      for (const index of order)
        world.do(recordRefund({ claim: `re_${index}`, amount: text(shares[index] as number), currency }))
      return world.state.balanceMicros === 0 && totalOf(world.book.balance) === 0
    }),
    { numRuns: 200 },
  )
})

const step = fc.record({
  kind: fc.constantFrom(
    'buy',
    'grant',
    'run',
    'run',
    'complete',
    'fail',
    'refund',
    'unrefund',
    'dispute',
    'win',
    'expire',
    'withdraw',
  ),
  number: fc.nat(1000),
})

t.test('no history makes a balance or a debt negative, and the books agree', async t => {
  let owing = 0
  let withdrawn = 0
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80, size: 'max' }), steps => {
      const world = new World()
      let purchases = 0
      let runs = 0
      let claims = 0
      for (const { kind, number } of steps) {
        world.days += 1
        const purchase = 1 + (number % Math.max(1, purchases))
        const run = 1 + (number % Math.max(1, runs))
        const claim = `c${1 + (number % Math.max(1, claims))}`
        if (kind === 'buy') {
          purchases += 1
          const bonus = number % 2 ? { bonus: 1 + (number % 40) } : {}
          const validDays = number % 3 ? {} : { validDays: 1 + (number % 20) }
          const right = number % 5 ? { withdrawalDays: 14 } : {}
          const sample = { purchase: purchases, credits: 1 + (number % 90), ...bonus, ...validDays, ...right }
          world.do(openPurchase(sample, 100))
          world.do(payPurchase({ purchase: purchases }))
        }
        if (kind === 'grant') world.do(grantCredits(1 + (number % 30), `g${world.days}`))
        if (kind === 'run') world.run(++runs, 1 + (number % 50))
        if (kind === 'complete') world.do(completeRun(run))
        if (kind === 'fail') world.do(failRun(run))
        if (kind === 'refund' || kind === 'dispute') {
          claims += 1
          const amount = `${1 + (number % 50)}.00`
          const sample = { purchase, claim: `c${claims}`, amount }
          world.do(kind === 'refund' ? recordRefund(sample) : recordDispute(sample))
        }
        const claimed = [...world.state.purchases].find(([, { claims }]) =>
          claims.some(({ claimId }) => claimId === claim),
        )
        const kindOf = claimed?.[1].claims.find(({ claimId }) => claimId === claim)?.kind
        if (claimed && kind === 'unrefund' && kindOf === 'refund')
          world.do({ ...recordRefund({ claim }), purchaseId: claimed[0], hasFailed: true })
        if (claimed && kind === 'win' && kindOf === 'dispute')
          world.do({ ...recordDispute({ claim }, 'won'), purchaseId: claimed[0] })
        if (kind === 'withdraw') {
          claims += 1
          const [declared] = world.do({ ...declareWithdrawal(`c${claims}`), purchaseId: purchaseId(purchase) })
          if (declared === 'WithdrawalDeclared') withdrawn += 1
        }
        if (kind === 'expire')
          for (let lot = 1; lot <= world.state.lots.size; lot++) world.do({ type: 'ExpireCredits', lot })
        const { balanceMicros, owedMicros, lots } = world.state
        if (owedMicros > 0) owing += 1
        const left = lots.reduce((sum, { leftMicros }) => sum + leftMicros, 0)
        const debts = [...world.state.purchases.values()].flatMap(({ claims }) => claims)
        const owed = debts.reduce((sum, claim) => sum + claim.owedMicros, 0)
        if (balanceMicros < 0 || owedMicros < 0 || left !== balanceMicros || owed !== owedMicros) return false
        if (totalOf(world.book.balance) !== balanceMicros) return false
        for (const { claims, creditsMicros, payment } of world.state.purchases.values()) {
          const standing = claims.filter(({ status }) => status !== 'reversed')
          const cents = standing.reduce((sum, { amount }) => sum + Number(amount) * 100, 0)
          const takenMicros = standing.reduce((sum, claim) => sum + claim.creditsMicros, 0)
          const dueMicros = payment ? Math.min(creditsMicros, (creditsMicros * cents) / 5000) : 0
          // Each share is rounded up.
          if (Math.abs(takenMicros - dueMicros) > claims.length + 1) return false
        }
        const references = world.events.flatMap(({ data }) => ('reference' in data ? [data.reference] : []))
        if (new Set(references).size !== references.length) return false
      }
      return faultsOf(world).length === 0
    }),
    { numRuns: 300 },
  )
  t.ok(owing > 100)
  t.ok(withdrawn > 100)
})

/** What the audit and the independent auditor find. */
const faultsOf = ({ appends }: World): string[] => {
  const faults: string[] = []
  const report = (what: string) => void faults.push(what)
  const rules: Rule[] = [new Purchases(), new Withdrawals(), new Notices()]
  for (const rule of rules) {
    for (const event of appends.flat()) rule.take(event as unknown as AuditedEvent, report)
    rule.end?.(report)
  }
  const auditor = new Auditor('account-x')
  for (const append of appends) auditor.follow(append)
  return [...faults, ...auditor.faults]
}
