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
    'Lists the movements of credits of the account, newest first, each with its cause and the balance after it.',
    'A debit has the price lines of its run.',
    'To get the next page, pass next_cursor as cursor with the same other arguments, until has_more is false.',
    'Earlier pages may be short or empty. Costs nothing.',
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
