import type { Test } from 'tap'
import { createOpenAiProvider } from '../../../../src/adapters/provider/openai/provider.ts'
import { vendorDependencies, vendorJob, vendorJobById } from '../../../support/vendors/jobs.ts'
import { KEY, startOpenAi } from '../../../support/vendors/openai.ts'

export const { signal } = new AbortController()

/** A server, and the adapter as its client. */
export const open = async (t: Test) => {
  const server = await startOpenAi(t)
  const provider = createOpenAiProvider(vendorDependencies(t, KEY, server.url))
  return {
    server,
    provider,
    submit: (operation: string, parameters: Record<string, unknown>, stop = signal) =>
      provider.submit(vendorJob(operation, parameters, 'gpt-x'), stop),
    poll: async () => provider.poll?.(vendorJobById('video_1', 'videos'), signal),
    cancel: async () => provider.cancel?.(vendorJobById('video_1', 'videos'), signal),
    check: async () => provider.check?.(signal),
  }
}
