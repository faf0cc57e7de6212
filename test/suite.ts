import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { node } from './support/program.ts'
import { isLong, PROCESS_TIMEOUT_MS } from './support/test-length.ts'

// Runs the test files in processes without the coverage hooks of the runner, which take longer to load than the service.

t.setTimeout(0)
// More than the processors of a small machine, since tests often wait for a disk or a timer.
t.jobs = 4

/** Folders with the longest tests. They begin, so that none of them is left alone at the end. */
const first = ['browser', 'processes', 'boot', 'adapters', 'docs']

/** Folders whose tests mostly wait for timers. They run beside the others, so that the processors are seldom idle. */
const waiting = ['engine', 'mcp', 'reactors']

/** Folders whose files have a process each: their tests are the longest, and start processes themselves. */
const alone = ['browser', 'processes']

/**
 * The others share processes, since loading the test runner and the service takes longer than most of them. So few that
 * these processes take no longer than the longest tests.
 */
const FILES_PER_PROCESS = 12

const folderOf = (name: string) => name.split('/')[0] ?? ''

/**
 * Tests that kill processes or stores and wait until others take over. Only the long form runs them: simulated worlds
 * do the same in a second. And programs from outside that take long, where others do the same for less: the inspector
 * besides the official suite of MCP, and more clients from the OpenAPI document than that of the docs.
 */
const long =
  /^(processes\/(cluster|.*-(crash|restart|outage|flush|change|memory))|mcp\/inspector|http\/generated-clients)\.test/

const names = (await readdir(import.meta.dirname, { recursive: true }))
  .filter(name => name.endsWith('.test.js') && (isLong || !long.test(name)))
  .sort()
const folders = new Set([...first, ...names.map(folderOf)])

/** Groups of about the same length: files beside each other are often long together. */
const inGroups = (names: string[], size: number): string[][] => {
  const count = Math.ceil(names.length / size)
  return Array.from({ length: count }, (_, group) => names.filter((_, index) => index % count === group))
}

const groupsOf = (folder: string): string[][] =>
  inGroups(
    names.filter(name => folderOf(name) === folder),
    alone.includes(folder) ? 1 : FILES_PER_PROCESS,
  )

/** The first list, with the second one spread over it evenly. */
const mixed = <Item>(list: Item[], others: Item[]): Item[] => {
  const place = (index: number) => Math.round((index * list.length) / others.length)
  return others.flatMap((other, index) => [other, ...list.slice(place(index), place(index + 1))])
}

const busy = [...folders].filter(folder => !waiting.includes(folder))
const [command = '', ...args] = node
const runner = join(import.meta.dirname, 'support', 'run-files.js')
for (const group of mixed(busy.flatMap(groupsOf), waiting.flatMap(groupsOf)))
  t.spawn(command, [...args, '--enable-source-maps', runner, ...group.map(name => join(import.meta.dirname, name))], {
    name: group.join(' '),
    buffered: true,
    timeout: PROCESS_TIMEOUT_MS,
  })
