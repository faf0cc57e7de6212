import type { CostLine } from '../../audit/costs.ts'
import { count, toCredits } from '../../audit/decimal.ts'
import { csvRow, csvText } from '../../audit/export/csv.ts'
import { costToJson } from '../audit/json.ts'
import { dayOf, printable, timeOf, wrapped } from '../audit/text.ts'
import { toColumns } from '../columns.ts'

// The forms of a provider's statement, in pieces, so memory does not limit its length.

type Lines = AsyncIterable<CostLine[]>

/** `docs/providers.md` documents these columns. */
const columns: Record<string, (line: CostLine) => string> = {
  time: ({ at }) => at,
  run_id: ({ runId }) => runId,
  outcome: ({ outcome }) => outcome,
  job_id: ({ jobId }) => csvText(jobId),
  account: ({ account }) => csvText(account),
  model: ({ model }) => csvText(model),
  version: ({ version }) => csvText(version),
  units: ({ units }) => csvText(unitsOf(units)),
  amount: ({ amountMicros }) => (amountMicros === undefined ? '' : toCredits(amountMicros)),
  currency: ({ currency = '' }) => currency,
  source: ({ source }) => source,
}

export async function* statementToCsv(pages: Lines): AsyncGenerator<string> {
  yield csvRow(Object.keys(columns))
  for await (const lines of pages)
    yield lines.map(line => csvRow(Object.values(columns).map(cell => cell(line)))).join('')
}

export async function* statementToJson(pages: Lines): AsyncGenerator<string> {
  const totals = new Totals()
  yield '{"lines":['
  let separator = '\n'
  for await (const lines of pages) {
    totals.add(lines)
    yield separator + lines.map(line => JSON.stringify(toJson(line))).join(',\n')
    separator = ',\n'
  }
  yield `\n],${JSON.stringify(totals.toJson()).slice(1)}\n`
}

export async function* statementToText(pages: Lines, provider: string): AsyncGenerator<string> {
  const totals = new Totals()
  for await (const lines of pages) {
    const head = totals.runs === 0 ? ['time (UTC)', 'run, job, model and units', 'cost'] : undefined
    totals.add(lines)
    yield `${toColumns(lines.map(toRow), { ...(head && { head }), aligns: ['left', 'left', 'right'] })}\n`
  }
  yield totals.runs === 0 ? `No run in this period has a cost at ${provider}.\n` : `${totals.toText()}\n`
}

/** The table has 80 columns, unless an ID is longer. */
const RUN_WIDTH = 54

const toRow = ({
  at,
  outcome,
  runId,
  jobId = '',
  model,
  units,
  amountMicros,
  currency,
  source,
}: CostLine): string[] => [
  [dayOf(at), timeOf(at), outcome].join('\n'),
  [runId, printable(jobId), printable(model), wrapped(printable(unitsOf(units)), RUN_WIDTH)].filter(Boolean).join('\n'),
  amountMicros === undefined ? 'unknown' : `${toCredits(amountMicros)} ${currency}\n${source}`,
]

class Totals {
  runs = 0
  unknown = 0
  readonly #byCurrency = new Map<string, bigint>()

  add(lines: CostLine[]) {
    for (const { amountMicros, currency } of lines) {
      this.runs += 1
      if (amountMicros === undefined || currency === undefined) this.unknown += 1
      else this.#byCurrency.set(currency, (this.#byCurrency.get(currency) ?? 0n) + BigInt(amountMicros))
    }
  }

  toJson() {
    return { runs: this.runs, unknown_costs: this.unknown, totals: Object.fromEntries(this.#amounts()) }
  }

  toText(): string {
    const amounts = this.#amounts().map(([currency, amount]) => `${amount} ${currency}`)
    const unknown = this.unknown > 0 ? `; the cost of ${count(this.unknown, 'run')} is unknown` : ''
    return `\n${count(this.runs, 'run')}: ${amounts.join(', ') || 'no known cost'}${unknown}.`
  }

  #amounts(): [currency: string, amount: string][] {
    return [...this.#byCurrency].map(([currency, micros]) => [currency, toCredits(micros)])
  }
}

const toJson = ({ at, outcome, jobId, ...cost }: CostLine) => ({
  ...{ time: at, run_id: cost.runId, outcome, job_id: jobId ?? null },
  ...costToJson(cost),
})

const unitsOf = (units: CostLine['units'] = {}): string =>
  Object.entries(units)
    .map(([unit, quantity]) => `${unit} ${quantity}`)
    .join(', ')
