import type { Core } from '../boot/core.ts'
import { expectDataDir, keepFilesPrivate } from '../boot/process.ts'
import { Unavailable } from '../ports/faults.ts'
import { BY_KEY } from '../ports/view-store.ts'
import { OperatorError } from './operator-error.ts'

/**
 * How long a command waits, before and after its work, for views that another process updates. So the service shows the
 * changes when the command ends. Views are usually a few milliseconds behind.
 */
const CATCH_UP_MS = 10_000

/**
 * Opens the core, runs the work, and waits until the views show its changes. Work that changes something prints its own
 * result: the change is durable, and the operator must see it even if the wait is interrupted.
 */
export const withCore = async <Result>(work: (core: Core) => Promise<Result>): Promise<Result> => {
  const { readConfig } = await import('../boot/read-config.ts')
  const { commandLineLogger, openCore } = await import('../boot/core.ts')
  const config = readConfig(process.env, { isCommand: true })
  expectDataDir(config)
  keepFilesPrivate(config.dataDir)
  const core = await openCore(config, {
    logger: commandLineLogger(config.logLevel),
    isCommand: true,
    maxStartMs: CATCH_UP_MS,
  })
  try {
    await untilFitting(core)
    const result = await work(core)
    // Rows that do not fit the log are missing from the result. Commands that change something have no result.
    if (core.repairs.rebuilt && result !== undefined) throw new OperatorError(MISFITS)
    await untilShown(core)
    return result
  } finally {
    await core.close()
  }
}

/** Rows of another MASTER_SECRET do not fit. Most often, all of them are such rows, so one read shows it. */
const untilFitting = async ({ views, repairs }: Core) => {
  await views.list('accounts', BY_KEY, { prefix: '', limit: 1 })
  await repairs.rebuilt
}

const MISFITS = 'The views did not match the log and are being rebuilt. Repeat the command to get the right result.'

/** Late views are only a warning: a command that failed now would be repeated. */
const untilShown = async ({ progress, log }: Core) => {
  try {
    await progress.passed(await log.head(), CATCH_UP_MS)
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    console.error(`Warning: the service may not show the latest changes yet: ${error.message}.`)
  }
}
