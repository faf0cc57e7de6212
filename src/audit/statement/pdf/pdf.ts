import PDFDocument from 'pdfkit'
import type { Brand } from '../../../domain/brand.ts'
import type { Sheet } from '../sheet.ts'
import { layOut } from './layout.ts'
import { drawLogo } from './logo.ts'
import { LEFT, type Mark, PAGE_HEIGHT, RIGHT, STYLES, toLeft, toRight } from './page.ts'
import { Typeface } from './typeface.ts'

interface Facts {
  account: string
  /** What the document is about, such as a period. */
  subject: string
  at: string
  brand: Brand
}

/**
 * A statement as a PDF in the style of a bank statement, in pieces. Equal sheets and facts have equal bytes: the ID of
 * the document follows from the texts in `info`.
 */
export async function* sheetToPdf(sheet: Sheet, { account, subject, at, brand }: Facts): AsyncGenerator<Uint8Array> {
  const document = new PDFDocument({
    ...{ size: 'A4', margin: 0, autoFirstPage: false, pdfVersion: '1.7', lang: 'en', displayTitle: true },
    info: { Title: `${sheet.title}, ${account}`, Subject: subject, Author: brand.name, CreationDate: new Date(at) },
  })
  const type = new Typeface(document)
  const issuer = { ...brand, logo: brand.logo && (await drawLogo(brand.logo)) }
  const pages = layOut(sheet, issuer, type)
  for (const [index, marks] of pages.entries()) {
    document.addPage()
    for (const mark of [...marks, ...footOf(account, index + 1, pages.length, type)]) draw(mark, document, type)
  }
  document.end()
  yield* document as AsyncIterable<Uint8Array>
}

/** Whether a PDF has the letters of a text. */
export const canWrite = (text: string): boolean => new Typeface(new PDFDocument()).canWrite(text)

const footOf = (account: string, page: number, pages: number, type: Typeface): Mark[] => {
  const y = PAGE_HEIGHT - 46
  const number = `Page ${page} of ${pages}`
  return [toLeft(account, LEFT, y, STYLES.detail), toRight(type, number, RIGHT, y, (RIGHT - LEFT) / 2, STYLES.detail)]
}

const draw = (mark: Mark, document: InstanceType<typeof PDFDocument>, type: Typeface) => {
  if (mark.kind === 'text') return type.write(mark.text, mark.x, mark.y, mark.style)
  if (mark.kind === 'logo') {
    const { jpeg, width, height } = mark.logo
    return document.image(jpeg as Buffer, mark.x, mark.y, { width, height })
  }
  if (mark.kind === 'box')
    return document
      .rect(LEFT, mark.y, RIGHT - LEFT, mark.height)
      .fillColor(mark.color)
      .fill()
  document.moveTo(LEFT, mark.y).lineTo(RIGHT, mark.y).lineWidth(mark.thickness).strokeColor(mark.color).stroke()
}
