import type { LocalTime } from './zone.ts'

/** The texts of a statement, for all forms that people read. No text can control a terminal or a page. */
export interface Sheet {
  title: string
  facts: [name: string, value: string][]
  summary: SummaryRow[]
  rows: SheetRow[]
  notes: string[]
  /** Whether the times of the lines need their offset from UTC. */
  hasOffsets: boolean
}

export interface SummaryRow {
  name: string
  total: string
  free: string
  paid: string
  /** Whether the row is a balance. The other rows are changes between two balances. */
  isBalance: boolean
}

export interface SheetRow {
  at: LocalTime
  what: string
  details: string[]
  amount: Figure
  balance: Figure
}

export interface Figure {
  total: string
  /** The free and the paid part, with their names; `0` if both are zero. */
  parts: string[]
}
