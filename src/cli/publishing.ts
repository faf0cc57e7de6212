import type { Command } from 'commander'
import type { Core } from '../boot/core.ts'
import type { Caller } from '../services/caller.ts'
import { operatorOf } from './operator.ts'
import { printMany } from './print.ts'
import { withCore } from './with-core.ts'

type Rows = Promise<Record<string, unknown>[]>

interface Publishing<Content> {
  description: string
  read(path: string): Content | Promise<Content>
  compare(core: Core, caller: Caller, content: Content | undefined): Rows
  publish(core: Core, caller: Caller, content: Content | undefined): Rows
}

export const NO_DIFFERENCES = 'No differences.'

/** Adds "diff" and "publish" for a JSON file. Both print the changes, which come from the log and not from views. */
export const addPublishing = <Content>(parent: Command, { description, read, ...of }: Publishing<Content>) => {
  const add = (name: string, told: string, change: Publishing<Content>['publish']) =>
    parent
      .command(`${name} [file]`)
      .description(told)
      .option('--json', 'print JSON')
      .action(async (file, options, command) => {
        const caller = operatorOf(command)
        const content = file === undefined ? undefined : await read(file)
        await withCore(async core => printMany(await change(core, caller, content), options, NO_DIFFERENCES))
      })
  add('diff', 'show what "publish" would change with a JSON file, or without a file', of.compare)
  add('publish', description, of.publish)
}
