import type { AccountFold, Opening } from '../../audit/account/account-fold.ts'
import { totalOf } from '../../audit/books.ts'
import { count } from '../../audit/decimal.ts'
import type { AccountRecord } from '../../audit/read-log.ts'
import { ownerName } from '../../domain/login/identity.ts'
import { toColumns } from '../columns.ts'
import { credits, printable, split, wrapped } from './text.ts'

/** The width of names and URLs in a table of 100 columns. */
const NAME_WIDTH = 34

/** An account at a moment, as text. It has at least one event. */
export const accountToText = (account: AccountFold): string => {
  const opening = account.opening as Opening
  const { accountId, tester, openedAt } = opening
  const { type, revision, position, id, metadata } = account.last as AccountRecord
  const { grantedMicros, withdrawnMicros, debitedMicros, refundedMicros, releasedMicros, expiredMicros } = account.sums
  const { suspension } = account
  const facts = [
    ['account', tester ? `${accountId}, a tester` : accountId],
    ['opened', `${openedAt} for ${ownerName(opening)}`],
    ...(suspension ? [['suspended', `${suspension.since}: ${suspension.reason}`]] : []),
    ['balance', `${credits(totalOf(account.balance))} credits: ${split(account.balance).join(', ')}`],
    ['granted', credits(grantedMicros)],
    ['withdrawn', credits(withdrawnMicros)],
    ['debited', credits(debitedMicros)],
    ['refunded', credits(refundedMicros)],
    ...(releasedMicros > 0 ? [['released', credits(releasedMicros)]] : []),
    ...(expiredMicros > 0 ? [['expired', credits(expiredMicros)]] : []),
    ['last event', `${type} at ${metadata.at}`],
    ['revision', String(revision)],
    ['position', String(position)],
    ['event id', id],
    ['hash', metadata.hash],
  ]
  return [toColumns(facts.map(row => row.map(printable))), ...listsOf(account)].join('\n\n')
}

const listsOf = (account: AccountFold): string[] => [
  list(
    'active API key',
    ['key', 'name', 'scope', 'created (UTC)'],
    account.keys
      .active()
      .map(({ keyId, name, lastFour, scope, livemode, createdAt }) => [
        ...[keyId, `${name} (…${lastFour})`, livemode === false ? `${scope}, test` : scope, createdAt],
      ]),
  ),
  list(
    'open run',
    ['run', 'status', 'requested (UTC)', 'holds'],
    account
      .openRuns()
      .map(({ runId, endpoint, status, requestedAt, held }) => [
        `${runId} ${endpoint}`,
        status,
        requestedAt,
        split(held).join(' and '),
      ]),
  ),
  list(
    'pending webhook',
    ['run', 'failed', 'next (UTC)', 'url'],
    account.webhooks
      .list()
      .map(({ runId, attempts, nextAttemptAt = 'now', url }) => [runId, String(attempts), nextAttemptAt, url]),
  ),
  list(
    'stored upload',
    ['upload', 'state', 'bytes', 'file'],
    account.uploads
      .list()
      .map(({ uploadId, state, sizeBytes, filename, folderPath }) => [
        ...[uploadId, state, sizeBytes.toLocaleString('en')],
        folderPath === undefined ? filename : `${folderPath}/${filename}`,
      ]),
  ),
]

const list = (noun: string, head: string[], rows: string[][]): string => {
  if (rows.length === 0) return `no ${noun}s`
  const cells = rows.map(row => row.map(text => wrapped(printable(text), NAME_WIDTH)))
  return `${count(rows.length, noun)}\n${toColumns(cells, { head })}`
}
