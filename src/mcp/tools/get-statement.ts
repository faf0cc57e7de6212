import { LedgerList, LedgerQuery } from '../../../schemas/api/ledger.ts'
import { limitOf, showPage } from '../../transports/list-page.ts'
import { periodOf } from '../../transports/moment.ts'
import { unwrap } from '../refusals.ts'
import { statementSummary } from '../summaries.ts'
import { READ_ONLY, tool } from '../tool.ts'

export const getStatement = tool({
  name: 'get_statement',
  title: 'Get the statement',
  description: [
    'Lists the movements of credits of the account, newest first: grants, withdrawals, and debits and refunds of runs,',
    'each with its cause and the balance after it. A debit has the price lines of its run.',
    'Pass next_cursor of a page as cursor, with the same other arguments, to get the next page, until has_more is',
    'false: a page may be short or empty before that. Costs nothing.',
  ].join(' '),
  input: LedgerQuery,
  output: LedgerList,
  summary: statementSummary,
  annotations: READ_ONLY,
  answer: async (query, call) => {
    const { services, present, caller } = call
    const { kind, cursor } = query
    const asked = { ...periodOf(query, 'arguments'), kind, cursor, limit: limitOf(query) }
    const page = unwrap(await services.ledger.lines(caller, asked, call))
    return { body: showPage(page, entry => present.ledgerLine(entry)) }
  },
})
