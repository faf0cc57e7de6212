import { toCredits } from '../../audit/decimal.ts'
import { csvRow, csvText } from '../../audit/export/csv.ts'
import type { SpokenLine } from './lines.ts'

const columns: Record<string, (line: SpokenLine) => string> = {
  time: ({ at }) => at,
  kind: ({ kind }) => kind,
  what: ({ what }) => csvText(what),
  detail: ({ detail }) => csvText(detail),
  run_id: ({ runId }) => csvText(runId),
  model: ({ model }) => csvText(model),
  key: ({ keyName }) => csvText(keyName),
  label: ({ label }) => csvText(label),
  credits: ({ changeMicros }) => toCredits(changeMicros),
  balance: ({ balanceMicros }) => toCredits(balanceMicros),
  payment_amount: ({ payment }) => payment?.amount ?? '',
  payment_currency: ({ payment }) => payment?.currency ?? '',
  payment_tax: ({ payment }) => payment?.tax ?? '',
}

/** The lines of a statement as a table by RFC 4180, oldest first. */
export const csvHead = (): string => csvRow(Object.keys(columns))

export const csvLine = (line: SpokenLine): string => csvRow(Object.values(columns).map(cell => cell(line)))
