import type { Core } from '../../src/boot/core.ts'

/** Resolves when the views show all that is on the log now. */
export const caughtUp = async ({ log, progress }: Pick<Core, 'log' | 'progress'>): Promise<void> =>
  progress.passed(await log.head(), 5000)
