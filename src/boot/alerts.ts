import { MAX_SINK_LENGTH } from '../../schemas/operator-events.ts'
import { SANDBOX } from '../../schemas/primitives.ts'
import type { Mailer } from '../ports/mailer.ts'
import { AlertMails } from '../reactors/upkeep/alert-mails.ts'
import type { SinkWatcher } from '../reactors/upkeep/seal-sink.ts'
import { Alerts } from '../services/operator/alerts.ts'
import type { BreakerWatcher } from '../services/providers/circuit-breakers.ts'
import type { Core } from './core.ts'

interface Dependencies {
  mailer: Mailer
  publicUrl: () => string
  leaseMs?: number | undefined
}

/** Opens the stream of alerts, the mail about them, and the watchers that report problems of accounts and sinks. */
export const openAlerts = (core: Core, dependencies: Dependencies) => {
  const { config, log, views, clock, random, logger } = core
  const { operatorEmail: to, roles } = config
  const alerts = new Alerts({ log, clock, random, logger, hasMail: to !== undefined })
  const mails = new AlertMails({ ...dependencies, alerts, to, views, clock, random, logger })
  const ofAccount: BreakerWatcher = {
    works: ({ provider, account }) => {
      if (provider !== SANDBOX) alerts.works({ kind: 'provider_refuses', provider, account })
    },
    refused: ({ provider, account }, reason) => alerts.report({ kind: 'provider_refuses', provider, account, reason }),
  }
  const named = (name: string) => ({ kind: 'seal_sink_fails', sink: name.slice(0, MAX_SINK_LENGTH) }) as const
  const ofSink: SinkWatcher = { works: name => alerts.works(named(name)), fails: name => alerts.report(named(name)) }
  return {
    ofAccount,
    ofSink,
    state: () => alerts.state(),
    start: () => {
      alerts.start()
      if (roles.has('reactors')) mails.start()
    },
    stop: async () => {
      await mails.stop()
      await alerts.stop()
    },
  }
}
