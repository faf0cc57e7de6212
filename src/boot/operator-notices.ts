import { MAX_SINK_LENGTH } from '../../schemas/operator-events.ts'
import { SANDBOX } from '../../schemas/primitives.ts'
import type { Mailer } from '../ports/mailer.ts'
import { OperatorMails } from '../reactors/upkeep/operator-mails.ts'
import type { SinkWatcher } from '../reactors/upkeep/seal-sink.ts'
import { OperatorNotices } from '../services/operator/operator-notices.ts'
import type { HealthWatcher } from '../services/providers/health.ts'
import type { Core } from './core.ts'

interface Dependencies {
  mailer: Mailer
  publicUrl: () => string
  leaseMs?: number | undefined
}

/** Tells the operator of troubles: what sees them, the stream that records them, and the mail about them. */
export const openOperatorNotices = (core: Core, dependencies: Dependencies) => {
  const { config, log, views, clock, random, logger } = core
  const { operatorEmail: to, roles } = config
  const notices = new OperatorNotices({ log, clock, random, logger, hasMail: to !== undefined })
  const mails = new OperatorMails({ ...dependencies, notices, to, views, clock, random, logger })
  const ofAccount: HealthWatcher = {
    works: ({ provider, account }) => {
      if (provider !== SANDBOX) notices.works({ kind: 'provider_refuses', provider, account })
    },
    refused: ({ provider, account }, reason) => notices.report({ kind: 'provider_refuses', provider, account, reason }),
  }
  const named = (name: string) => ({ kind: 'seal_sink_fails', sink: name.slice(0, MAX_SINK_LENGTH) }) as const
  const ofSink: SinkWatcher = { works: name => notices.works(named(name)), fails: name => notices.report(named(name)) }
  return {
    ofAccount,
    ofSink,
    start: () => {
      notices.start()
      if (roles.has('reactors')) mails.start()
    },
    stop: async () => {
      await mails.stop()
      await notices.stop()
    },
  }
}
