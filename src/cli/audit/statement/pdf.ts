import { sheetToPdf } from '../../../audit/statement/pdf/pdf.ts'
import type { Statement } from '../../../audit/statement/statement.ts'
import type { Brand } from '../../../domain/brand.ts'
import { sheetOf } from './sheet.ts'

/** A statement as a PDF, in pieces. The document has the time of the newest event that was read. */
export const statementToPdf = (statement: Statement, brand: Brand): AsyncGenerator<Uint8Array> => {
  const { account, period, readTo } = statement
  const subject = `From ${period.from} to ${period.to}, ${period.zone}`
  return sheetToPdf(sheetOf(statement), { account: account.accountId, subject, at: readTo.at, brand })
}
