import type { Clock } from '../../../ports/clock.ts'
import type { UseInputMedia } from '../../../ports/input-media.ts'
import type { Provider } from '../../../ports/provider.ts'
import { createStudio } from '../../../studio/studio.ts'
import { Jobs } from './jobs.ts'
import { isLong, orderFor } from './order.ts'
import { produce } from './production.ts'
import { isTestJob, TestFamily } from './test-family.ts'

interface SandboxDependencies {
  useInputMedia: UseInputMedia
  clock: Clock
  /** The number of worker threads; by default, the number of cores. */
  threads?: number
}

/** Replaces the vendors: generates real media of the requested type and size locally, deterministic for a seed. */
export const createSandboxProvider = ({ useInputMedia, clock, threads }: SandboxDependencies): Provider => {
  const studio = createStudio(threads === undefined ? {} : { threads })
  const dependencies = { studio, useInputMedia, clock }
  const jobs = new Jobs((job, signal, progress) => produce(dependencies, job, signal, progress))
  const testFamily = new TestFamily(clock)
  return {
    deduplicates: true,
    async submit(job, signal) {
      if (isTestJob(job)) return testFamily.submit(job, signal)
      return isLong(orderFor(job)) ? jobs.submit(job) : produce(dependencies, job, signal)
    },
    poll: async job => (isTestJob(job) ? testFamily.poll(job) : jobs.poll(job)),
    cancel: async job => (isTestJob(job) ? testFamily.cancel(job) : jobs.cancel(job)),
    async close() {
      jobs.close()
      await studio.close()
    },
  }
}
