import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'

export const ALERTS = 'monitoring/alerts.yml'

export interface Query {
  /** The title of the panel, or the name of the alert. */
  name: string
  expr: string
}

interface Dashboard {
  panels: { title: string; targets?: { expr: string }[] }[]
}

interface Rules {
  groups: { rules: { alert: string; expr: string }[] }[]
}

/** The queries of the dashboard, with values in place of its variables. */
export const dashboardQueries = async (): Promise<Query[]> => {
  const { panels } = JSON.parse(await readFile('monitoring/grafana-dashboard.json', 'utf8')) as Dashboard
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      name: title,
      expr: expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m'),
    })),
  )
}

export const alerts = async (): Promise<Query[]> => {
  const { groups } = parse(await readFile(ALERTS, 'utf8')) as Rules
  return groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ name: alert, expr })))
}
