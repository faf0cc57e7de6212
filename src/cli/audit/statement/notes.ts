import { count } from '../../../audit/count.ts'
import type { Statement } from '../../../audit/statement/statement.ts'

/** What a reader must know to trust a statement: what it was made of, and the seal that covers it. */
export const notesOf = (statement: Statement): string[] => {
  const { period, readTo } = statement
  const isOver = readTo.at >= period.to
  return [
    'The opening balance and the lines add up to the closing balance, and the links of all events of the account ' +
      'were recomputed.',
    `Made from the log up to position ${readTo.position} of ${readTo.at}.`,
    ...(isOver ? [] : ['The log ends before the period does, so that lines may still be added.']),
    ...sealOf(statement),
  ]
}

const sealOf = ({ seal, unsealed, lines }: Statement): string[] => {
  if (!seal) return ['The log has no seal, so that a cut end or a rewritten log cannot be noticed.']
  const open = lines.filter(({ isSealed }) => !isSealed).length
  const covered = `covers the first ${count(seal.events, 'event')} of the log`
  const text = `Seal ${seal.number}:${seal.link} of ${seal.at} ${covered}`
  if (unsealed === 0) return [`${text}, which are all.`]
  const ofThem =
    open === 0 ? 'none of which is in this statement' : `${count(open, 'line')} of this statement among them`
  return [`${text}. It does not cover the ${count(unsealed, 'event')} after it, ${ofThem}.`]
}
