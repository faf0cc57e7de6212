import PDFDocument from 'pdfkit'
import type { Statement } from '../../../audit/statement/statement.ts'
import { layOut } from './pdf/layout.ts'
import { LEFT, type Mark, PAGE_HEIGHT, RIGHT, STYLES, toLeft, toRight } from './pdf/page.ts'
import { Typeface } from './pdf/typeface.ts'
import { sheetOf } from './sheet.ts'

/**
 * A statement as a PDF in the style of a bank statement, in pieces. Equal statements have equal bytes: the document has
 * the time of the newest event that was read, and its ID follows from that time and the texts in `info`.
 */
export async function* statementToPdf(statement: Statement): AsyncGenerator<Uint8Array> {
  const { account, period, readTo } = statement
  const sheet = sheetOf(statement)
  const document = new PDFDocument({
    ...{ size: 'A4', margin: 0, autoFirstPage: false, pdfVersion: '1.7', lang: 'en', displayTitle: true },
    info: {
      Title: `${sheet.title}, ${account.accountId}`,
      Subject: `From ${period.from} to ${period.to}, ${period.zone}`,
      Author: 'Tollgate',
      CreationDate: new Date(readTo.at),
    },
  })
  const type = new Typeface(document)
  const pages = layOut(sheet, type)
  for (const [index, marks] of pages.entries()) {
    document.addPage()
    for (const mark of [...marks, ...footOf(account.accountId, index + 1, pages.length, type)])
      draw(mark, document, type)
  }
  document.end()
  yield* document as AsyncIterable<Uint8Array>
}

const footOf = (account: string, page: number, pages: number, type: Typeface): Mark[] => {
  const y = PAGE_HEIGHT - 46
  const number = `Page ${page} of ${pages}`
  return [toLeft(account, LEFT, y, STYLES.detail), toRight(type, number, RIGHT, y, (RIGHT - LEFT) / 2, STYLES.detail)]
}

const draw = (mark: Mark, document: InstanceType<typeof PDFDocument>, type: Typeface) => {
  if (mark.kind === 'text') return type.write(mark.text, mark.x, mark.y, mark.style)
  if (mark.kind === 'box')
    return document
      .rect(LEFT, mark.y, RIGHT - LEFT, mark.height)
      .fillColor(mark.color)
      .fill()
  document.moveTo(LEFT, mark.y).lineTo(RIGHT, mark.y).lineWidth(mark.thickness).strokeColor(mark.color).stroke()
}
