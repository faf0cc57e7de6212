import { Readable } from 'node:stream'
import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import { TollgateSeal } from '../../../schemas/api/headers.ts'
import { ExportQuery, LedgerExport, LedgerList, LedgerQuery } from '../../../schemas/api/ledger.ts'
import type { LedgerEntry } from '../../services/ledger/ledger.ts'
import { ApiError } from '../../transports/api-error.ts'
import { limitOf, showPage } from '../../transports/list-page.ts'
import { periodOf } from '../../transports/moment.ts'
import { unwrap } from '../../transports/refusals.ts'
import { nameSeal } from '../answers/headers.ts'
import { waitingClient } from '../connections/disconnect.ts'
import { route } from '../route.ts'

const EXPORT_TYPE = 'application/x-ndjson'

/** The exports that an account may have open. An export reads all lines of the account. */
export const MAX_EXPORTS = 1

/** Most exports take less. */
const RETRY_SECONDS = 10

const listLedger = route({
  id: 'listLedger',
  method: 'get',
  path: '/v1/ledger',
  tag: 'Account',
  summary: 'List the lines of the ledger, newest first',
  description: [
    'Returns a page of all movements of credits, each with the balance after it.',
    'To get the next page, pass `next_cursor` as `cursor` with the same other parameters.',
    'A page may be short or empty even if `has_more` is true, because a request searches a limited number of lines.',
  ].join(' '),
  auth: 'key or session',
  query: LedgerQuery,
  responses: {
    200: {
      description: 'A page of lines.',
      shape: LedgerList,
      examples: { 'First page': examples.ledgerList },
      headers: { 'Tollgate-Seal': TollgateSeal },
    },
  },
  serve: async (ctx, { ledger, present, knownSeals }, { query }) => {
    const { kind, cursor } = query
    const asked = { ...periodOf(query), kind, cursor, limit: limitOf(query) }
    const page = unwrap(await ledger.lines(ctx.state.caller, asked, waitingClient(ctx)))
    ctx.body = showPage(page, entry => present.ledgerLine(entry)) satisfies LedgerList
    nameSeal(ctx, knownSeals)
  },
})

const exportLedger = route({
  id: 'exportLedger',
  method: 'get',
  path: '/v1/ledger/export',
  tag: 'Account',
  summary: 'Export the ledger',
  description: [
    'Streams all lines that exist when the request begins, oldest first, each as a line of JSON in the shape of a list',
    'item. The service cuts the connection if the export cannot be completed, for example because its API key was',
    'revoked. An export that ends properly is complete.',
    'An account may have one export open at a time.',
  ].join(' '),
  auth: 'key or session',
  query: ExportQuery,
  responses: {
    200: {
      description: 'The lines.',
      shape: LedgerExport,
      type: EXPORT_TYPE,
      examples: { 'A grant and a debit': examples.ledgerExport },
    },
  },
  serve: async (ctx, { ledger, present, openExports }, { query }) => {
    const { caller } = ctx.state
    const period = periodOf(query)
    if (ctx.method === 'HEAD') {
      ctx.type = EXPORT_TYPE
      ctx.status = 200
      return
    }
    if (!openExports.add(caller.accountId, ctx.res)) throw exportOpen()
    const parts = unwrap(await ledger.export(caller, period, waitingClient(ctx)))
    // The first part is read before the response begins, while it can still be an error.
    const first = await parts.next()
    const textOf = (entries: LedgerEntry[]) =>
      entries.map(entry => `${JSON.stringify(present.ledgerLine(entry))}\n`).join('')
    ctx.type = EXPORT_TYPE
    ctx.body = Readable.from(texts(first, parts, textOf), { objectMode: false })
  },
})

export const ledgerRoutes = [listLedger, exportLedger]

/** Reads at most one part more than the client has received. */
async function* texts(
  first: IteratorResult<LedgerEntry[], void>,
  rest: AsyncGenerator<LedgerEntry[], void>,
  textOf: (entries: LedgerEntry[]) => string,
) {
  if (first.value) yield textOf(first.value)
  for await (const entries of rest) yield textOf(entries)
}

const exportOpen = () =>
  new ApiError(
    'rate_limited',
    'The account already has an export open. Read it to its end or close it, and try again.',
    {},
    { retryAfterSeconds: RETRY_SECONDS },
  )
