import { sheetToPdf } from '../../../audit/statement/pdf/pdf.ts'
import type { Statement } from '../../../audit/statement/statement.ts'
import { sheetOf } from './sheet.ts'

/** A statement as a PDF, in pieces. The document has the time of the newest event that was read. */
export const statementToPdf = (statement: Statement): AsyncGenerator<Uint8Array> => {
  const { account, period, readTo } = statement
  const subject = `From ${period.from} to ${period.to}, ${period.zone}`
  return sheetToPdf(sheetOf(statement), { account: account.accountId, subject, at: readTo.at })
}
