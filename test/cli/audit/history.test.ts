import t from 'tap'
import { AccountFold } from '../../../src/audit/account/account-fold.ts'
import type { AccountRecord } from '../../../src/audit/read-log.ts'
import { HistoryPrinter } from '../../../src/cli/audit/history.ts'

const ACCOUNT = 'acct_01m820ba03fvgrrk7dq5akre51'

const opened = {
  ...{ id: 'an-id', stream: `account-${ACCOUNT}`, revision: 0, position: 0, type: 'AccountOpened' },
  data: { accountId: ACCOUNT, email: 'bob@example.com', tester: false },
  metadata: { at: '2026-11-22T16:10:20.000Z', actor: { kind: 'service' }, hash: 'f'.repeat(64) },
} as AccountRecord

const printed = (events: number, options: { json?: boolean }): string => {
  const { args } = t.capture(console, 'log', () => undefined)
  const printer = new HistoryPrinter(ACCOUNT, options)
  const account = new AccountFold()
  account.take(opened)
  for (let index = 0; index < events; index++) printer.take({ ...opened, revision: index }, undefined, account)
  printer.flush()
  printer.end({ account, faults: [], head: 0 })
  return args()
    .map(([text]) => `${text}\n`)
    .join('')
}

t.test('a history of any length is one JSON document', async t => {
  for (const events of [1, 999, 1000, 1001, 2500]) {
    const document = JSON.parse(printed(events, { json: true }))
    t.equal(document.account_id, ACCOUNT)
    t.equal(document.events.length, events)
    t.equal(document.events.at(-1).revision, events - 1)
    t.equal(document.chain_is_whole, true)
  }
})

t.test('a long history has all its events, and names each day once', async t => {
  const lines = printed(2500, {}).split('\n')
  t.equal(lines.filter(line => line.includes('opened for bob@example.com')).length, 2500)
  t.equal(lines.filter(line => line.trim() === '2026-11-22').length, 1)
  t.ok(lines.includes('2,500 events; the balance is 0 credits.'))
})
