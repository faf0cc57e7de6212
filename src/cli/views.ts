import { Command } from 'commander'
import type { Core } from '../boot/core.ts'
import { openScratchViews } from '../boot/stores.ts'
import { compareViews, type Progress, rebuildViews } from '../engine/views/rebuild.ts'
import type { CellChange, ViewStore } from '../ports/view-store.ts'
import { printOne, withCore } from './run.ts'

/** How often a long replay says how far it is. */
const PROGRESS_MS = 1000

/** Places named in a report. The number of all is in it too. */
const MAX_NAMED = 20

export const viewsCommand = (): Command => {
  const command = new Command('views').description('check the views against the log, or build them anew')

  command
    .command('verify')
    .description('replays the log and compares; exits with 1 where the views differ from it')
    .option('--json', 'print JSON')
    .action(async options => {
      const changes = await inScratch(async ({ log, views }, scratch, progress) => {
        return (await compareViews(log, views, scratch, progress)).changes
      })
      printOne({ equal: changes.length === 0, ...report(changes) }, options)
      if (changes.length > 0) process.exitCode = 1
    })

  command
    .command('rebuild')
    .description('replays the log and makes the views what it says, without a moment in which they are not there')
    .option('--json', 'print JSON')
    .action(async options => {
      const changes = await inScratch(({ log, views }, scratch, progress) =>
        rebuildViews(log, views, scratch, progress),
      )
      printOne({ rebuilt: true, ...report(changes) }, options)
    })

  return command
}

const inScratch = (
  work: (core: Core, scratch: ViewStore, progress: Progress) => Promise<CellChange[]>,
): Promise<CellChange[]> =>
  withCore(async core => {
    const { scratch, discard } = await openScratchViews()
    try {
      return await work(core, scratch, showProgress(await core.log.head()))
    } finally {
      await discard()
    }
  })

const showProgress = (head: number): Progress => {
  let shownAtMs = performance.now()
  return position => {
    if (performance.now() - shownAtMs < PROGRESS_MS) return
    shownAtMs = performance.now()
    console.error(`replayed ${position + 1} of ${head + 1} events`)
  }
}

const report = (changes: CellChange[]) => ({
  differences: changes.length,
  ...(changes.length > 0 && { places: changes.slice(0, MAX_NAMED).map(change => change.address) }),
})
