import type { Core } from '../../src/boot/core.ts'

/** Resolves when the views include every event that is now in the log. */
export const caughtUp = async ({ log, progress }: Pick<Core, 'log' | 'progress'>): Promise<void> =>
  progress.passed(await log.head(), 5000)
