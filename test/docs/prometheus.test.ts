import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { startMeasured, useMeasured } from '../support/measured-service.ts'
import { ALERTS, alerts, dashboardQueries } from '../support/monitoring.ts'
import { needsPrograms } from '../support/needs.ts'
import { freePorts, killProgram, launchProgram, untilAnswers } from '../support/server-program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

interface Answer<Data> {
  status: string
  error?: string
  data: Data
}

interface Vector {
  result: { metric: Record<string, string>; value: [number, string] }[]
}

interface Groups {
  groups: { rules: { name: string; health: string; lastError?: string }[] }[]
}

t.test('Prometheus reads a service, and answers every query', needsPrograms('prometheus', 'promtool'), async t => {
  const service = await startMeasured(t)
  const folder = await temporaryFolder(t)
  const [port] = (await freePorts('127.0.0.1', 1)) as [number]
  const config = join(folder, 'prometheus.yml')
  const log = join(folder, 'prometheus.log')
  await writeFile(
    config,
    JSON.stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [resolve(ALERTS)],
      scrape_configs: [{ job_name: 'tollgate', static_configs: [{ targets: [`127.0.0.1:${service.metricsPort}`] }] }],
    }),
  )
  await promisify(execFile)('promtool', ['check', 'config', config])
  const prometheus = await launchProgram(
    'prometheus',
    [
      ...[`--config.file=${config}`, `--storage.tsdb.path=${join(folder, 'data')}`],
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    log,
  )
  t.teardown(() => killProgram(prometheus))
  const get = async <Data>(path: string) =>
    (await (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json()) as Answer<Data>
  const query = (expr: string) => get<Vector>(`query?query=${encodeURIComponent(expr)}`)
  await untilAnswers(prometheus, log, async () =>
    fetch(`http://127.0.0.1:${port}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )

  const isUp = async () => (await query('up{job="tollgate"} == 1')).data.result.length === 1
  await until('Prometheus has read the service', isUp)
  await useMeasured(t, service)
  // A rate needs two samples.
  const rateOfLast = async () => (await query('rate(tollgate_run_own_seconds_count{mode="async"}[1m])')).data.result[0]
  await until('Prometheus has read the runs twice', rateOfLast)

  for (const { name, expr } of [...(await dashboardQueries()), ...(await alerts())]) {
    const { status, error } = await query(expr)
    t.equal(status, 'success', `${name}: ${expr} ${error ?? ''}`)
  }
  for (const { name, expr } of await dashboardQueries())
    t.not((await query(expr)).data.result.length, 0, `${name}: ${expr}`)

  const rules = async () => (await get<Groups>('rules')).data.groups.flatMap(group => group.rules)
  await until('the rules are evaluated', async () => (await rules()).every(({ health }) => health !== 'unknown'))
  for (const { name, health, lastError } of await rules()) t.equal(health, 'ok', `${name} ${lastError ?? ''}`)
})
