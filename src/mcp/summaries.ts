import type { Charge } from '../../schemas/api/charge.ts'
import type { LedgerList } from '../../schemas/api/ledger.ts'
import type { ModelEndpoint, ModelFamily, Pricing } from '../../schemas/api/model.ts'
import type { Quote, QuoteLine, Run, RunList } from '../../schemas/api/run.ts'
import type { UsageList } from '../../schemas/api/usage.ts'
import type { ParametersSchema } from '../../schemas/catalog.ts'

// The texts beside structured results. Agents that read only text get enough, and other agents little twice.

/** The most lines of a list. The structured result has all items. */
const MAX_LINES = 40

/** The most characters of the text of a run. */
const MAX_TEXT = 2000

export const runSummary = (run: Run): string => {
  const { run_id, status, endpoint, finish_reason, error, output, store } = run
  const files = output?.urls ?? (output?.url === undefined ? [] : [output.url])
  return lines(
    `Run ${run_id} of ${endpoint}: ${status}, ${creditsOf(run)}.`,
    error && `${error.code}: ${error.message}`,
    ...files,
    output?.text !== undefined && shortened(output.text, 'output.text'),
    ...(output?.tool_calls ?? []).map(({ id, function: { name, arguments: given } }) =>
      shortened(`tool call ${id}: ${name} ${given}`, 'output.tool_calls'),
    ),
    finish_reason && `The text ends early: ${finish_reason}.`,
    store === false && 'Nothing of this run is kept.',
  )
}

const creditsOf = ({ credits_charged, credits_refunded, credits_released }: Run) =>
  [
    `${credits_charged} credits charged`,
    credits_refunded !== undefined && `${credits_refunded} refunded`,
    credits_released !== undefined && `${credits_released} released`,
  ]
    .filter(Boolean)
    .join(', ')

export const runsSummary = ({ data, next_cursor }: RunList): string =>
  listed(data, run => `${run.run_id} ${run.created_at} ${run.endpoint} ${run.status}, ${creditsOf(run)}`, next_cursor)

export const quoteSummary = ({ endpoint, credits, live_credits, likely_credits, lines: priced }: Quote): string => {
  const live = live_credits === undefined ? '' : ` (${live_credits} with a live key)`
  const likely = likely_credits === undefined ? 'costs' : `probably costs ${likely_credits}, and at most`
  return lines(`A run of ${endpoint} ${likely} ${credits} credits${live}.`, ...priced.map(lineText))
}

const lineText = (line: QuoteLine): string => {
  switch (line.kind) {
    case 'base':
      return `base price: ${line.credits}`
    case 'quantity':
      return `× ${line.value} (${line.parameter})`
    case 'multiplier':
      return `× ${line.factor} (${line.parameter} is ${line.value})`
    case 'tokens': {
      const count = line.count.toLocaleString('en')
      return `+ ${count} × ${line.credits_per_million} / 1,000,000 (${words(line.tokens)} tokens)`
    }
    case 'surcharge':
      return `+ ${line.credits} (${line.parameter})`
  }
}

export const statementSummary = ({ data, next_cursor }: LedgerList): string =>
  listed(
    data,
    ({ created_at, kind, credits, credits_balance, run_id, model, reason }) =>
      [created_at, kind, credits, `balance ${credits_balance}`, model, run_id, reason].filter(Boolean).join(' '),
    next_cursor,
  )

export const usageSummary = ({ data, next_cursor, from, to }: UsageList): string =>
  lines(
    `Usage from ${from} to ${to}:`,
    listed(
      data,
      ({ day, model, key_id, label, runs, failures, credits }) =>
        [day, model, key_id, label, `${runs} runs, ${failures} failures, ${credits} credits`].filter(Boolean).join(' '),
      next_cursor,
    ),
  )

export const chargeSummary = ({ run_id, status, credits, price, ...charge }: Charge): string =>
  lines(
    [
      `Run ${run_id} (${status}) cost ${credits} credits: ${charge.credits_charged} charged,`,
      `${charge.credits_refunded} refunded, ${charge.credits_released} released.`,
    ].join(' '),
    ...price.map(step => `${step.step}: ${step.credits}`),
  )

type Shown = Omit<ModelFamily, 'endpoints'> & {
  endpoints: (Omit<ModelEndpoint, 'parameters_schema' | 'pricing'> & Partial<ModelEndpoint>)[]
}

/** A single family with its parameters, or several families with a line each. */
export const modelsSummary = ({ data }: { data: readonly Shown[] }): string => {
  const [only, ...others] = data
  if (only && others.length === 0)
    return lines(familyLine(only), ...only.endpoints.map(endpoint => endpointLine(endpoint)))
  return listed(data, familyLine, null)
}

const familyLine = ({ id, output_type, endpoints, credits_range: { min, max } }: Shown) => {
  const kinds = endpoints.map(({ kind }) => kind).join(', ')
  const absent = endpoints.some(({ available }) => available) ? '' : ', unavailable now'
  return `${id} (${output_type}: ${kinds}), ${min === max ? min : `${min} to ${max}`} credits${absent}`
}

const endpointLine = ({ id, mode, parameters_schema: schema, pricing }: Shown['endpoints'][number]) =>
  lines(`${id} (${mode})${schema ? `: ${parametersOf(schema)}` : ''}`, pricing && `credits: ${formulaOf(pricing)}`)

const formulaOf = ({ base_credits, quantities, multipliers, tokens_per_million: tokens, surcharges }: Pricing) => {
  const factors = Object.entries(multipliers).map(([parameter, byValue]) => {
    const choices = Object.entries(byValue).map(([value, factor]) => `${value}: ${factor}`)
    return `${parameter} (${choices.join(', ')})`
  })
  const sums = surcharges.map(({ when, credits }) => ` + ${credits} if ${when.parameter} is ${when.equals}`)
  const product = [base_credits, ...quantities, ...factors].join(' × ')
  const rates = Object.entries(tokens ?? {}).map(([kind, credits]) => `${credits} for a million ${words(kind)} tokens`)
  return [...(base_credits > 0 ? [product] : []), ...rates].join(' + ') + sums.join('')
}

const parametersOf = ({ properties, required = [] }: ParametersSchema) =>
  Object.entries(properties)
    .map(([name, { type, enum: choices, minimum, maximum, default: byDefault }]) => {
      const values = [choices ?? type].flat().join(' | ')
      const bounds = minimum === undefined || maximum === undefined ? '' : ` ${minimum} to ${maximum}`
      const shownDefault = byDefault === undefined || byDefault === '' ? '' : `, default ${byDefault}`
      const need = required.includes(name) ? ', required' : ''
      return `${name} (${values}${bounds}${need}${shownDefault})`
    })
    .join('; ')

const listed = <Item>(items: readonly Item[], show: (item: Item) => string, next: string | null): string => {
  const rest = items.length - MAX_LINES
  return lines(
    items.length === 0 && 'The list is empty.',
    ...items.slice(0, MAX_LINES).map(show),
    rest > 0 && `and ${rest} more in the structured result`,
    next !== null && `Next page: cursor ${next}`,
  )
}

const shortened = (text: string, place: string) =>
  text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}… (the full text is in ${place} of the structured result)` : text

const words = (name: string) => name.replace('_', ' ')

const lines = (...given: (string | false | undefined)[]): string => given.filter(Boolean).join('\n')
