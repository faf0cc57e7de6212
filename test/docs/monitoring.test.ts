import { readFile } from 'node:fs/promises'
import { parser } from '@prometheus-io/lezer-promql'
import t from 'tap'
import { startMeasured, useMeasured } from '../support/measured-service.ts'
import { type Metrics, readMetrics } from '../support/metrics.ts'
import { alerts, dashboardQueries } from '../support/monitoring.ts'

const service = await startMeasured(t)
await useMeasured(t, service)
const metrics = await readMetrics(service)
const rules = await alerts()
const queries = [...(await dashboardQueries()), ...rules]

/** Prometheus itself adds them to each sample. */
const OF_SCRAPE = ['instance', 'job']

/** What a query names that the metrics lack, and parts that are no PromQL. */
const faultsOf = (expr: string, { samples }: Metrics): string[] => {
  const faults: string[] = []
  const named = new Set<string>()
  const labels = new Set<string>()
  parser.parse(expr).iterate({
    enter: ({ type, from, to }) => {
      const text = expr.slice(from, to)
      if (type.isError) faults.push(`no PromQL at ${from}`)
      if (type.name === 'Identifier') named.add(text)
      if (type.name === 'LabelName') labels.add(text)
    },
  })
  // The state of a scrape, which Prometheus adds.
  named.delete('up')
  const known = new Set(samples.filter(({ name }) => named.has(name)).flatMap(each => Object.keys(each.labels)))
  for (const name of named) if (!samples.some(sample => sample.name === name)) faults.push(`no metric ${name}`)
  for (const label of labels) if (!known.has(label) && !OF_SCRAPE.includes(label)) faults.push(`no label ${label}`)
  return faults
}

t.test('the dashboard and the alerts name only metrics and labels that a service exports', async t => {
  t.ok(queries.length > 40)
  for (const { name, expr } of queries) t.same(faultsOf(expr, metrics), [], `${name}: ${expr}`)
  t.same(faultsOf('sum by (nothing) (tollgate_nothing{mode="sync"})', metrics), [
    ...['no metric tollgate_nothing', 'no label nothing', 'no label mode'],
  ])
  t.same(faultsOf('sum(', metrics).slice(0, 1), ['no PromQL at 4'])
})

t.test('each alert has a paragraph in the guide for operators', async t => {
  const guide = await readFile('docs/operations.md', 'utf8')
  t.ok(rules.length > 10)
  for (const { name } of rules) t.ok(guide.includes(`\n- **\`${name}\`**`), name)
})
