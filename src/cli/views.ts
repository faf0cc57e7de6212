import { Command } from 'commander'
import type { CellChange } from '../ports/view-store.ts'
import { operatorOf } from './operator.ts'
import { printOne, progressReport } from './print.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

/** Places that a report names. It also gives their total number. */
const MAX_NAMED = 20

export const viewsCommand = (): Command => {
  const command = new Command('views')

  command
    .command('verify')
    .description('replay the log and compare the result with the views; exits with 1 if they differ')
    .option('--json', 'print JSON')
    .action(async (options, command) => {
      const caller = operatorOf(command)
      const changes = await withCore(async ({ services }) =>
        unwrap(await services.views.verify(caller, progressReport('replayed'))),
      )
      if (options.json) printOne({ equal: changes.length === 0, ...report(changes) }, options)
      else
        console.log(changes.length === 0 ? 'The views match the log.' : `The views differ from the log${at(changes)}`)
      if (changes.length > 0) process.exitCode = 1
    })

  command
    .command('rebuild')
    .description('replay the log and replace the views in one step; the views stay readable')
    .option('--json', 'print JSON')
    .action(async (options, command) => {
      const caller = operatorOf(command)
      const changes = await withCore(async ({ services }) =>
        unwrap(await services.views.rebuild(caller, progressReport('replayed'))),
      )
      if (options.json) printOne({ rebuilt: true, ...report(changes) }, options)
      else
        console.log(
          changes.length === 0
            ? 'The views were rebuilt. They matched the log before.'
            : `The views were rebuilt. They differed from the log${at(changes)}`,
        )
    })

  return command
}

/** The places that differ, as the end of a sentence. */
const at = (changes: CellChange[]): string => {
  const named = changes.slice(0, MAX_NAMED).map(change => change.address)
  const more = changes.length - named.length
  const lines = more > 0 ? [...named, `and ${more} more`] : named
  return [` in ${changes.length} ${changes.length === 1 ? 'place' : 'places'}:`, ...lines].join('\n  ')
}

const report = (changes: CellChange[]) => ({
  differences: changes.length,
  ...(changes.length > 0 && { places: changes.slice(0, MAX_NAMED).map(change => change.address) }),
})
