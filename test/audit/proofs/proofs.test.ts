import t from 'tap'
import { examine, parseKeys } from '#verify'
import { accountIn } from '../../../schemas/events.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { proveConsistency, proveInclusion } from '../../../src/audit/proofs/inclusion.ts'
import { proveStatement } from '../../../src/audit/proofs/statement.ts'
import { busyLog, busySealKey, sealedWithKey } from '../../support/busy-log.ts'
import { checkers, needsPython } from '../../support/checkers.ts'
import { logOf } from '../../support/log-of.ts'

const publicPem = busySealKey.publicKey.export({ type: 'spki', format: 'pem' }).toString()
const keys = parseKeys(publicPem)

const events = await busyLog(t, sealedWithKey)
const log = logOf(events)
const seals = events.filter(({ type }) => type === 'LogSealed')
const numbers = seals.map(({ revision }) => revision)
const newest = numbers.at(-1) as number

const check = (proof: unknown) => examine(JSON.stringify(proof), keys)
const balances = (beforeMicros: number, afterMicros: number) =>
  `balance: ${beforeMicros / 1_000_000} credits before, ${afterMicros / 1_000_000} credits after`
const coveredBy = (number: number) => {
  const { data } = seals.find(({ revision }) => revision === number) as RawEvent
  const { events: count } = data as { events: number }
  return events.filter(({ stream }) => stream !== 'seals').slice(0, count)
}

t.test('each event is proved under the seals that cover it', async t => {
  for (const number of [numbers[0] as number, newest])
    for (const event of coveredBy(number).filter((_, index) => index % 7 === 0)) {
      const { revision, stream, type } = event
      const proof = await proveInclusion(log, { eventId: event.id }, { at: { number } })
      const lines = [`right: ${type}, event ${revision} of ${stream}, is sealed`]
      t.match(check(proof), { lines, seals: [{ number }] })
    }
})

t.test('each seal extends each earlier one', async t => {
  for (const from of numbers)
    for (const to of numbers.filter(number => number > from))
      t.same(check(await proveConsistency(log, { number: from }, { number: to })).lines, [
        `right: seal ${to} extends seal ${from}`,
      ])
})

t.test('a statement has all events of an account and its balances', async t => {
  const accounts = [...new Set(coveredBy(newest).flatMap(({ stream }) => accountIn(stream) ?? []))]
  t.ok(accounts.length > 2)
  for (const account of accounts) {
    const own = (number: number) => coveredBy(number).filter(({ stream }) => stream === `account-${account}`)
    const all = own(newest)
    const balance = (list: RawEvent[]) =>
      list.reduce((sum, { data }) => (data as { balanceAfterMicros?: number }).balanceAfterMicros ?? sum, 0)
    const shown = check(await proveStatement(log, account))
    t.match(shown.lines[0], `right: ${account} has ${all.length} events up to the seal, all here`)
    t.ok(shown.lines.includes(balances(0, balance(all))))
    for (const from of numbers.filter(number => number < newest && own(number).length > 0)) {
      const before = own(from)
      const part = check(await proveStatement(log, account, { from: { number: from }, to: { number: newest } }))
      t.match(part.lines[0], `right: ${account} has ${all.length - before.length} events between the seals, all here`)
      t.ok(part.lines.includes(balances(balance(before), balance(all))))
    }
  }
})

t.test('the programs for customers find the same', needsPython, async t => {
  const [account = ''] = coveredBy(newest).flatMap(({ stream }) => accountIn(stream) ?? [])
  const [first] = numbers.filter(number => coveredBy(number).some(({ stream }) => stream === `account-${account}`))
  const from = { number: first as number }
  const named = coveredBy(newest).filter((_, index) => index % 11 === 0)
  const proofs = [
    ...(await Promise.all(named.map(({ id }) => proveInclusion(log, { eventId: id })))),
    await proveConsistency(log, from, { number: newest }),
    await proveStatement(log, account),
    await proveStatement(log, account, { from }),
  ]
  t.ok((proofs.at(-2) as { catalog?: { events: object[] } }).catalog?.events.length)
  const texts = proofs.map(proof => Buffer.from(JSON.stringify(proof)))
  for (const [name, check] of Object.entries(checkers))
    t.same([...new Set(await check(texts, publicPem))], ['right'], name)
})
