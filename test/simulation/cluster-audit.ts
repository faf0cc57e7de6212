import { accountOf, type Position } from '../../schemas/recorded.ts'
import { BEFORE_FIRST, type EventLog } from '../../src/ports/event-log.ts'
import type { Cluster } from '../support/cluster.ts'
import { withStores } from '../support/cluster-accounts.ts'
import { type Audit, auditFolder } from '../support/ledger.ts'
import { type AuditedEvent, Auditor } from './auditor.ts'

/** What the log says, where its head is, and as faults also what the views say otherwise. */
export type ClusterAudit = Audit & { head: Position }

/** Audits the stores of a cluster whose services have nothing left to do. */
export const auditCluster = async (cluster: Pick<Cluster, 'folder' | 'env'>): Promise<ClusterAudit> => {
  const { ledgers, faults } = await auditFolder(cluster.folder, cluster.env)
  return withStores(cluster, async ({ log }) => ({
    ...{ head: await log.head(), ledgers },
    faults: [...faults, ...(await auditTwice(log, ledgers))],
  }))
}

/** The same once more, by somebody who shares no code with the service. */
const auditTwice = async (log: EventLog, ledgers: Audit['ledgers']): Promise<string[]> => {
  const histories = new Map<string, AuditedEvent[]>()
  for await (const page of log.readAll(BEFORE_FIRST))
    for (const event of page) {
      const accountId = accountOf(event)
      if (!accountId) continue
      const history = histories.get(accountId) ?? []
      histories.set(accountId, history)
      history.push(event)
    }
  return [...histories].flatMap(([accountId, history]) => {
    const auditor = new Auditor()
    auditor.followChain(history)
    const { balanceMicros } = ledgers.get(accountId) ?? {}
    const sums = auditor.balanceMicros === balanceMicros ? [] : [`${accountId} has ${balanceMicros}`]
    return [...auditor.faults.map(fault => `${accountId}, ${fault}`), ...sums]
  })
}
