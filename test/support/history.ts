import type { AccountCommand } from '../../src/domain/account/commands.ts'
import { toMicros } from '../../src/domain/money.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { publishShipped } from '../../src/services/catalog/published-catalog.ts'
import {
  accountId,
  cancelRun,
  completeRun,
  createKey,
  debitFacts,
  digest,
  failRun,
  grantCredits,
  grantUpload,
  keptOutput,
  openAccount,
  queueRun,
  recordDelivered,
  recordOutputDeletion,
  recordUndelivered,
  recordUploadDeletion,
  redeliver,
  requestUploadDeletion,
  revokeKey,
  runId,
  startRun,
  storeUpload,
  submitRun,
} from './account-samples.ts'
import { family } from './catalog-samples.ts'
import { accountsOn, publishedOn } from './engine.ts'
import { ManualClock } from './manual-clock.ts'

const caller = { kind: 'operator', name: 'test', requestId: 'request-1' } as const

/** Fills a log with a bit of everything: accounts with keys, runs and uploads in every state, and a changed catalog. */
export const writeHistory = async (log: EventLog, { first = 1, accounts: count = 3 } = {}): Promise<void> => {
  const clock = new ManualClock()
  await publishShipped(log, publishedOn(log, clock), [family('lumen'), family('umbra', { name: `Umbra ${first}` })])
  const accounts = accountsOn(log, clock)
  for (let account = first; account < first + count; account++)
    for (const command of lifeOf(account)) {
      clock.advance(1000)
      const outcome = await accounts.execute(caller, accountId(account), command)
      if ('refuse' in outcome) throw new Error(`${command.type} was refused: ${outcome.refuse.code}`)
    }
}

/** Refunds a part of a completed run in that history, as an operator does. */
export const refundInHistory = async (log: EventLog, account = 1, credits = 4): Promise<void> => {
  const accounts = accountsOn(log)
  const { refunds } = await accounts.state(accountId(account))
  const run = { runId: runId(account * 1000 + 4), chargedMicros: toMicros(10), refundedMicros: 0, debit: debitFacts }
  const uses = [{ lot: 1, amountMicros: toMicros(10) }]
  const refund = {
    type: 'RefundRun',
    ...run,
    uses,
    amountMicros: toMicros(credits),
    refunds,
    reason: 'a gift',
  } as const
  const outcome = await accounts.execute(caller, accountId(account), refund)
  if ('refuse' in outcome) throw new Error(`the refund was refused: ${outcome.refuse.code}`)
}

/** Keys, runs and uploads are numbered uniquely across accounts. */
const lifeOf = (account: number): AccountCommand[] => {
  const own = (number: number) => account * 1000 + number
  const key = (number: number) => {
    const command = createKey(own(number))
    return { ...command, key: { ...command.key, hash: digestOf(own(number)) } }
  }
  const run = (number: number) =>
    queueRun({ run: own(number), key: `request-${number}`, metadata: { order: number }, webhook: number > 5 })
  const upload = (number: number) => grantUpload({ upload: own(number) }, own(2))
  const seal = (number: number) => storeUpload(own(number), { sealed: true })
  return [
    openAccount({ account, welcome: 100 }),
    ...[key(1), key(2), revokeKey(own(1))],
    ...[run(1), run(2), run(3), run(4), run(5)],
    ...[startRun(own(2)), startRun(own(3)), submitRun(own(3)), startRun(own(4)), completeRun(own(4)), failRun(own(5))],
    ...[run(6), startRun(own(6)), cancelRun(own(6))],
    ...[run(7), cancelRun(own(7)), recordUndelivered(1, { run: own(7), next: '2026-01-01T01:00:00.000Z' })],
    ...[run(8), cancelRun(own(8)), recordDelivered(1, own(8)), redeliver(own(8))],
    ...[run(9), cancelRun(own(9)), recordUndelivered(1, { run: own(9) })],
    ...[run(10), startRun(own(10)), completeRun(own(10), keptOutput('2026-01-31T00:00:00.000Z', own(10), own(11)))],
    ...[recordDelivered(1, own(10)), redeliver(own(10))],
    ...[run(11), startRun(own(11)), completeRun(own(11), keptOutput('2026-01-31T00:00:00.000Z', own(12)))],
    recordOutputDeletion(own(11)),
    ...[upload(1), upload(2), storeUpload(own(2)), upload(3), storeUpload(own(3)), seal(3), upload(4), seal(4)],
    ...[upload(5), requestUploadDeletion(own(5)), upload(6), seal(6), requestUploadDeletion(own(6))],
    ...[upload(7), seal(7), recordUploadDeletion(own(7))],
    grantCredits(0.5),
  ]
}

const digestOf = (number: number) => digest('0').slice(String(number).length) + number
