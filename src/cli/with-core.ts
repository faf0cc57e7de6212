import { readConfig } from '../boot/config.ts'
import { type Core, commandLineLogger, openCore } from '../boot/core.ts'

/** How long the views may take to show a command's changes, so that the service sees them when the command ends. */
const CATCH_UP_MS = 30_000

/** Opens the core, runs the work, and waits until the views show it. */
export const withCore = async <Result>(work: (core: Core) => Promise<Result>): Promise<Result> => {
  const core = await openCore(readConfig(process.env), { logger: commandLineLogger() })
  try {
    const result = await work(core)
    await core.progress.passed(await core.log.head(), CATCH_UP_MS)
    return result
  } finally {
    await core.close()
  }
}
