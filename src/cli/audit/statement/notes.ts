import type { Closing } from '../../../audit/closings.ts'
import { count } from '../../../audit/decimal.ts'
import type { Statement } from '../../../audit/statement/statement.ts'
import { printable } from '../text.ts'

/** Notes about the source of a statement and the seal that covers it. */
export const notesOf = (statement: Statement): string[] => {
  const { closed } = statement
  return closed
    ? [checked('of the account that the seal covers'), closedNote(statement, closed), ...lateNotes(statement)]
    : [checked('of the account'), ...openNotes(statement), ...sealOf(statement), ...lateNotes(statement)]
}

const checked = (which: string): string =>
  `The opening balance and the lines add up to the closing balance, and the links of all events ${which} ` +
  'were recomputed.'

const closedNote = ({ seal }: Statement, { month, closedAt, closedBy, seal: { events } }: Closing): string => {
  const by = closedBy === '' ? '' : ` by ${printable(closedBy)}`
  return (
    `${month} was closed at ${closedAt}${by} with seal ${seal?.name} of ${seal?.at}, which covers the first ` +
    `${count(events, 'event')} of the log. This report has only these events, so it never changes. Events ` +
    'recorded later with a time in the period belong to later months.'
  )
}

const openNotes = ({ period, readTo, isCut }: Statement): string[] => {
  const isOver = readTo.at >= period.to
  return [
    `Made from the log up to position ${readTo.position} of ${readTo.at}.`,
    ...(isOver ? [] : ['The log ends before the period does, so lines may still be added.']),
    ...(isCut ? [CUT] : []),
  ]
}

const CUT =
  'The period begins or ends within a closed month, so this is not the report of that month: events are listed by ' +
  'their times alone. Closed months are months in UTC.'

const lateNotes = ({ lines }: Statement): string[] => {
  const late = lines.filter(({ bookedIn }) => bookedIn !== undefined).length
  if (late === 0) return []
  return [
    late === 1
      ? 'One line has a time of a closed month, but came after its seal, so it is booked in a later month.'
      : `${late} lines have times of closed months, but came after their seals, so they are booked in later months.`,
  ]
}

const sealOf = ({ seal, unsealed, lines }: Statement): string[] => {
  if (!seal) return ['The log has no seal, so a truncated or rewritten log cannot be detected.']
  const open = lines.filter(({ isSealed }) => !isSealed).length
  const covered = `covers the first ${count(seal.events, 'event')} of the log`
  const text = `Seal ${seal.name} of ${seal.at} ${covered}`
  if (unsealed === 0) return [`${text}, which are all.`]
  const ofThem =
    open === 0 ? 'none of which is in this statement' : `${count(open, 'line')} of this statement among them`
  return [`${text}. It does not cover the ${count(unsealed, 'event')} after it, ${ofThem}.`]
}
