import type { Job, SubmittedJob } from '../../src/ports/provider.ts'

/** A job as its provider gets it after the submission. */
export const submittedJob = ({ input, ...job }: Job): SubmittedJob => ({
  ...job,
  jobId: 'any',
  input: async () => input,
})
