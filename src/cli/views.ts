import { Command } from 'commander'
import type { Core } from '../boot/core.ts'
import { compareViews, type Rebuild, rebuildViews } from '../engine/views/rebuild.ts'
import type { CellChange } from '../ports/view-store.ts'
import { eventCodec } from '../services/event-codec.ts'
import { printOne, withCore } from './run.ts'

/** How often a long replay reports its progress. */
const REPORT_EVERY_MS = 1000

/** The most places to name in a report, which also has their total number. */
const MAX_NAMED = 20

export const viewsCommand = (): Command => {
  const command = new Command('views').description('check the views against the log, or rebuild them')

  command
    .command('verify')
    .description('replays the log and compares it with the views; exits with 1 if they differ')
    .option('--json', 'print JSON')
    .action(async options => {
      const changes = await withCore(async core => {
        const { scratch, discard } = await core.openScratch()
        try {
          return (await compareViews(await rebuildOf(core), scratch)).changes
        } finally {
          await discard()
        }
      })
      printOne({ equal: changes.length === 0, ...report(changes) }, options)
      if (changes.length > 0) process.exitCode = 1
    })

  command
    .command('rebuild')
    .description('replays the log and replaces the views in one step, so that they are always readable')
    .option('--json', 'print JSON')
    .action(async options => {
      const changes = await withCore(async core => {
        await core.views.deleteSnapshots()
        return rebuildViews({ ...(await rebuildOf(core)), openScratch: core.openScratch })
      })
      printOne({ rebuilt: true, ...report(changes) }, options)
    })

  return command
}

const rebuildOf = async ({ log, views, projections }: Core): Promise<Rebuild> => {
  const head = await log.head()
  let shownAtMs = performance.now()
  const onProgress = (position: number) => {
    if (performance.now() - shownAtMs < REPORT_EVERY_MS) return
    shownAtMs = performance.now()
    console.error(`replayed ${position + 1} of ${head + 1} events`)
  }
  return { log, codec: eventCodec, store: views, projections, onProgress }
}

const report = (changes: CellChange[]) => ({
  differences: changes.length,
  ...(changes.length > 0 && { places: changes.slice(0, MAX_NAMED).map(change => change.address) }),
})
