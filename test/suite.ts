import { readdir, statfs } from 'node:fs/promises'
import { basename, join } from 'node:path'
import t from 'tap'
import { node } from './support/program.ts'
import { isLong, isNewer, PROCESS_TIMEOUT_MS } from './support/test-length.ts'

// Runs the test files in processes without the coverage hooks of the runner, which take longer to load than the service.

t.setTimeout(0)
// More than the processors of a small machine, since tests often wait for a disk or a timer.
t.jobs = 4

/** Files that have a process each: their tests are the longest, or start processes themselves. They run first. */
const alone = ['simulation/world/crash-points', 'browser/', 'processes/']

/** These files share logs that take seconds to make. */
const ofLogs = /^(cli\/)?audit\//

/**
 * The others share processes: to load the test runner and the service takes longer than the tests of ten files. Each
 * process has files of all folders, since some folders keep the processor busy, and others wait for timers and disks.
 */
const PROCESSES = 11

const isAlone = (name: string) => alone.some(start => name.startsWith(start))

/** Mixes the folders: browsers keep the processor busy, and the tests of processes mostly wait. */
const byFile = (a: string, b: string) => basename(a).localeCompare(basename(b))

/**
 * Tests that kill processes or stores and wait until others take over. Only the long form runs them: simulated worlds
 * do the same in a second. And programs from outside that take long, where others do the same for less: the inspector
 * besides the official suite of MCP, and more clients from the OpenAPI document than that of the docs. And commands that
 * wait ten seconds for views. And all of the console in a browser but signing in, which other tests ask for as HTML.
 */
const long =
  /^(processes\/(cluster|.*-(crash|outage|memory))|browser\/(?!sign-in).*|cli\/late-views|mcp\/inspector|http\/generated-clients)\.test/

/**
 * What does not depend on the version of Node.js: how pictures, films and sounds are drawn, files of the repository, what
 * a browser shows, and worlds, of which others run on a newer version.
 */
const ofAnyVersion =
  /^(studio\/(?!studio|worker)|catalog\/|architecture|mutants\/|docs\/(links|pages)|browser\/|simulation\/)/

const names = (await readdir(import.meta.dirname, { recursive: true }))
  .filter(name => name.endsWith('.test.js') && (isLong || !long.test(name)) && !(isNewer && ofAnyVersion.test(name)))
  .sort()
const shared = names.filter(name => !isAlone(name) && !ofLogs.test(name))
const groups = [
  ...names
    .filter(isAlone)
    .sort(byFile)
    .map(name => [name]),
  names.filter(name => ofLogs.test(name)),
  ...Array.from({ length: PROCESSES }, (_, group) => shared.filter((_, index) => index % PROCESSES === group)),
]

/** A folder in memory, where nothing waits for a disk. Some containers have a small one. */
const MEMORY = '/dev/shm'
const isRoomy = async () => {
  const { bavail, bsize } = await statfs(MEMORY)
  return bavail * bsize > 4 * 2 ** 30 && process.availableMemory() > 8 * 2 ** 30
}
if (await isRoomy().catch(() => false)) process.env['TMPDIR'] = MEMORY

const [command = '', ...args] = node
const runner = join(import.meta.dirname, 'support', 'run-files.js')
for (const [number, group] of groups.entries())
  t.spawn(command, [...args, '--enable-source-maps', runner, ...group.map(name => join(import.meta.dirname, name))], {
    name: group.length === 1 ? String(group) : `group ${number}`,
    buffered: true,
    timeout: PROCESS_TIMEOUT_MS,
  })
