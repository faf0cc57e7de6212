import { millionths } from '../../audit/decimal.ts'
import type { Figure, Sheet, SummaryRow } from '../../audit/statement/sheet.ts'
import { localTimeOf } from '../../audit/statement/zone.ts'
import { visible } from '../../domain/visible-text.ts'
import type { SpokenLine } from './lines.ts'

export interface SheetFacts {
  account: string
  owner: string
  from: string
  to: string
}

/** A statement for people, oldest line first. */
export const spokenSheet = (lines: readonly SpokenLine[], { account, owner, from, to }: SheetFacts): Sheet => {
  const [first, last] = [lines[0], lines.at(-1)]
  const opening = first ? first.balanceMicros - first.changeMicros : undefined
  const sumOf = (isIn: boolean) =>
    lines.filter(({ changeMicros }) => changeMicros > 0 === isIn).reduce((sum, line) => sum + line.changeMicros, 0)
  const row = (name: string, micros: number | undefined, isBalance: boolean): SummaryRow[] =>
    micros === undefined
      ? []
      : [{ name, total: isBalance ? millionths(micros) : signed(micros), free: '', paid: '', isBalance }]
  return {
    title: 'Statement of credits',
    facts: [
      ['account', account],
      ['owner', visible(owner)],
      ['from', from],
      ['to', to],
      ['time zone', 'UTC'],
    ],
    summary: [
      ...row('opening balance', opening, true),
      ...row('in', sumOf(true), false),
      ...row('out', sumOf(false), false),
      ...row('closing balance', last?.balanceMicros, true),
    ],
    rows: lines.map(({ at, what, detail, runId, keyName, label, changeMicros, balanceMicros }) => ({
      at: localTimeOf(at, 'UTC'),
      what: visible(what),
      details: [detail, runId, keyName && `key ${keyName}`, label && `label ${label}`].flatMap(text =>
        text ? [visible(text)] : [],
      ),
      amount: figure(signed(changeMicros)),
      balance: figure(millionths(balanceMicros)),
    })),
    notes: ['You can check each line against a seal: see "Check my ledger" on the page of your credits.'],
    hasOffsets: false,
  }
}

const figure = (total: string): Figure => ({ total, parts: [] })

const signed = (micros: number): string => `${micros > 0 ? '+' : ''}${millionths(micros)}`
