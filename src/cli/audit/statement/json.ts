import type { Position } from '../../../../schemas/recorded.ts'
import type { Opening } from '../../../audit/account/account-fold.ts'
import { monthBefore, monthOf } from '../../../audit/closings.ts'
import { priceSteps } from '../../../audit/explain/price-steps.ts'
import type { Statement, StatementLine } from '../../../audit/statement/statement.ts'
import { NOTHING, plus } from '../../../audit/statement/totals.ts'
import { localText } from '../../../audit/statement/zone.ts'
import { stepToJson } from '../explanation-json.ts'
import { creditsToJson } from '../json.ts'
import { whatOf } from './sheet.ts'

/** A statement as JSON, in pieces. `docs/audit-commands.md` documents the fields. */
export function* statementToJson(statement: Statement): Generator<string> {
  const { lines } = statement
  yield `${JSON.stringify(headOf(statement)).slice(0, -1)},"lines":[`
  for (const [index, line] of lines.entries())
    yield `${index === 0 ? '' : ','}\n${JSON.stringify(lineToJson(line, statement))}`
  yield ']}\n'
}

const headOf = (statement: Statement) => {
  const { period, opening, closing, totals, readTo, unsealed, lines } = statement
  return {
    ...accountToJson(statement.account),
    ...reportToJson(statement),
    period: {
      ...{ from: period.from, to: period.to, time_zone: period.zone },
      from_local: localText(period.from, period.zone),
      to_local: localText(period.to, period.zone),
    },
    ...creditsToJson('credits_opening', opening),
    ...creditsToJson('credits_closing', closing),
    ...creditsToJson('credits_granted', [...totals.granted.values()].reduce(plus, NOTHING)),
    granted_by_kind: [...totals.granted].map(([kind, granted]) => ({ kind, ...creditsToJson('credits', granted) })),
    ...creditsToJson('credits_withdrawn', totals.withdrawn),
    ...creditsToJson('credits_charged', totals.charged),
    ...creditsToJson('credits_refunded', totals.refunded),
    ...creditsToJson('credits_released', totals.released),
    read_to: { position: positionIn(statement, readTo), at: readTo.at },
    seal: sealOf(statement),
    unsealed_events: unsealed,
    unsealed_lines: lines.filter(({ isSealed }) => !isSealed).length,
  }
}

const sealOf = ({ seal }: Statement) => {
  if (!seal) return null
  const { name, ...others } = seal
  return { seal: name, ...others }
}

const reportToJson = ({ period, closed, isCut }: Statement) => ({
  closed: closed
    ? {
        first_month: monthOf(period.from),
        last_month: monthBefore(monthOf(period.to)),
        closed_at: closed.closedAt,
        closed_by: closed.closedBy,
      }
    : null,
  cuts_closed_month: isCut,
})

const accountToJson = ({ accountId, email, tester }: Opening) => ({
  account_id: accountId,
  email: email ?? null,
  tester,
})

/** A closed report is the same in every copy of the log, but positions differ between copies. */
const positionIn = ({ closed }: Statement, { position }: { position: Position }) => (closed ? null : position)

const lineToJson = (line: StatementLine, statement: Statement) => {
  const position = positionIn(statement, line)
  const { zone } = statement.period
  const { revision, eventId, at, hash, run, receipt, payment } = line
  return {
    ...{ revision, position, event_id: eventId, at, at_local: localText(at, zone), hash },
    ...{ kind: line.kind, words: whatOf(line) },
    grant_kind: line.grantKind ?? null,
    reference: line.reference ?? null,
    reason: line.reason ?? null,
    payment: payment ?? null,
    run_id: run?.runId ?? null,
    model: run?.model ?? null,
    endpoint: run?.endpoint ?? null,
    key_id: run?.keyId ?? null,
    label: run?.label ?? null,
    price_lines: receipt ? priceSteps(receipt).map(stepToJson) : null,
    ...creditsToJson('credits_change', line.change),
    ...creditsToJson('credits_balance', line.balance),
    is_sealed: line.isSealed,
    booked_in: line.bookedIn ?? null,
  }
}
