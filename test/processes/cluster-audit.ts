import { accountIn } from '../../schemas/events.ts'
import type { Position } from '../../schemas/recorded.ts'
import { BEFORE_FIRST, type EventLog } from '../../src/ports/event-log.ts'
import { type AuditedEvent, Auditor } from '../auditor/auditor.ts'
import type { Cluster } from '../support/cluster.ts'
import { withStores } from '../support/cluster-accounts.ts'
import { type Audit, auditFolder } from '../support/ledger.ts'

/** The audit of the log, its head position, and as faults every difference in the views. */
export type ClusterAudit = Audit & { head: Position }

/** Audits the stores of a cluster whose services are idle. */
export const auditCluster = async (cluster: Pick<Cluster, 'folder' | 'env'>): Promise<ClusterAudit> => {
  const { ledgers, faults } = await auditFolder(cluster.folder, cluster.env)
  return withStores(cluster, async ({ log }) => ({
    ...{ head: await log.head(), ledgers },
    faults: [...faults, ...(await auditTwice(log, ledgers))],
  }))
}

/** Repeats the audit with the auditor that shares no code with the service. */
const auditTwice = async (log: EventLog, ledgers: Audit['ledgers']): Promise<string[]> => {
  const histories = new Map<string, AuditedEvent[]>()
  for await (const page of log.readAll(BEFORE_FIRST))
    for (const event of page) {
      const history = histories.get(event.stream) ?? []
      histories.set(event.stream, history)
      history.push(event)
    }
  return [...histories].flatMap(([stream, history]) => {
    const auditor = new Auditor(stream)
    auditor.followChain(history)
    const accountId = accountIn(stream)
    const { balanceMicros = 0 } = ledgers.get(accountId ?? '') ?? {}
    const sums = auditor.balanceMicros === balanceMicros ? [] : [`${accountId} has ${balanceMicros}`]
    return [...auditor.faults, ...sums]
  })
}
