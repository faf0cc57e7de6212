import type { Test } from 'tap'
import type { Provider, ProviderOutcome } from '../../src/ports/provider.ts'
import { sandbox } from './client.ts'
import { readMetrics } from './metrics.ts'
import { startReceiver, status } from './receiver.ts'
import { type Customer, openAccount, type Service, startService } from './service.ts'
import { until } from './until.ts'

const outcomeOf = ({ outcome = 'success' }: Record<string, unknown>): ProviderOutcome => {
  if (outcome === 'success') return { kind: 'done', media: [], text: 'done' }
  const failed = { kind: 'failed', message: 'It was refused.' } as const
  return outcome === 'content_rejected'
    ? { ...failed, code: outcome }
    : { ...failed, code: 'provider_error', fault: { kind: 'unauthorized' } }
}

/** Ends runs with the outcome in their input. Videos are polled jobs. */
const provider: Provider = {
  submit: async ({ runId, endpoint, input }) =>
    endpoint.endsWith('-i2v') ? { kind: 'submitted', jobId: runId, pollAfterMs: 1 } : outcomeOf(input),
  poll: async job => {
    const input = await job.input()
    return input['outcome'] === 'hang' ? { kind: 'working', pollAfterMs: 100 } : outcomeOf(input)
  },
}

/** Starts a service with metrics. */
export const startMeasured = (t: Test): Promise<Service> =>
  startService(t, {
    environment: { METRICS_PORT: '0', ALLOW_PRIVATE_WEBHOOKS: 'true' },
    providers: { sandbox: provider },
  })

/** Ends four runs: with a webhook that is given up, refused, as a job, and at an account that its provider refuses. */
export const useMeasured = async (t: Test, service: Service): Promise<Customer> => {
  const customer = await openAccount(service, { tester: true })
  const receiver = await startReceiver(t)
  receiver.answer = status(410)
  await customer.run({ ...sandbox(), webhook_url: receiver.url })
  await customer.run(sandbox({ outcome: 'content_rejected' }))
  await customer.run({ model: 'sandbox', input: { prompt: 'a film', image_url: 'none' } })
  const read = async (name: string) => (await readMetrics(service)).sum(name)
  await until('the webhook is given up', async () => (await read('tollgate_webhooks_abandoned_total')) === 1)
  await until('the job has ended', async () => (await read('tollgate_runs_ended_total')) === 3)
  await customer.run(sandbox({ outcome: 'provider_error' }))
  return customer
}
