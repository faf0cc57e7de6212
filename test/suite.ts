import { mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import t from 'tap'
import { node } from './support/program.ts'
import { isLong, isNewer, PROCESS_TIMEOUT_MS } from './support/test-length.ts'

// Runs the test files in processes without the coverage hooks of the runner, which take longer to load than the service.

t.setTimeout(0)
// More than the processors of a small machine, since tests often wait for a disk or a timer.
t.jobs = 4

/** Files that have a process each: their tests are the longest, or start processes themselves. They run early. */
const alone = ['simulation/world/crash-points', 'simulation/world/world', 'browser/', 'processes/']

/** These files share logs that take seconds to make. */
const ofLogs = /^(cli\/)?audit\//

/**
 * The others share processes, since to load the test runner and the service takes longer than the tests of ten files.
 * Each process takes the next file that none has begun, so that all end at about the same time.
 */
const PROCESSES = t.jobs

const isAlone = (name: string) => alone.some(start => name.startsWith(start))

/** Mixes the folders: some keep the processor busy, and others wait for timers and disks. */
const byFile = (a: string, b: string) => basename(a).localeCompare(basename(b))

/**
 * Only the long form runs these: tests that kill processes or stores, cut connections or damage files, and wait until
 * others take over: simulated worlds do the same in a second. And programs from outside that take long, where others do
 * the same for less: the inspector besides the official suite of MCP, more clients from the OpenAPI document than that
 * of the docs, its examples in every language, book-keepers, Prometheus, and verifiers that are told lies. And what
 * seldom changes: how pictures, films and sounds are made in detail, where the short form looks at one of each kind; and
 * how much memory that takes. And commands that wait ten seconds for views, and the service in a container and behind
 * proxies. And all of the console in a browser but signing in, which other tests ask for as HTML.
 */
const long = new RegExp(
  `^(${[
    'processes/(cluster|newer-version|roles|two-processes|workers|.*-(crash(-points)?|outage|memory))',
    'adapters/event-log/eventstoredb/(appends|batches|cluster|faults|subscriptions)',
    'boot/damaged-stores',
    'deploy/(container|proxies)',
    'browser/(?!sign-in).*',
    'cli/late-views',
    'mcp/inspector',
    'http/(generated-clients|example-requests)',
    'docs/(verify-lies|prometheus)',
    'audit/export/book-keepers',
    'studio/(film/film|memory|picture/(picture|repaint)|sound/sound)',
  ].join('|')})\\.test`,
)

/**
 * What does not depend on the version of Node.js: how pictures, films and sounds are drawn, files of the repository, what
 * a browser shows, and worlds, of which others run on a newer version.
 */
const ofAnyVersion =
  /^(studio\/(?!studio|worker)|catalog\/|architecture|packages|deploy\/(compose|manifests)|mutants\/|docs\/(links|pages)|browser\/|simulation\/)/

const names = (await readdir(import.meta.dirname, { recursive: true }))
  .filter(name => name.endsWith('.test.js') && (isLong || !long.test(name)) && !(isNewer && ofAnyVersion.test(name)))
  .sort()
const shared = names.filter(name => !isAlone(name) && !ofLogs.test(name)).sort(byFile)
const isolated = names.filter(isAlone).sort(byFile)
// Two keep the processor busy while those that wait run beside them.
const groups = [
  names.filter(name => ofLogs.test(name)),
  shared,
  ...isolated.map(name => [name]),
  ...Array<string[]>(PROCESSES - 1).fill(shared),
]

/** A folder in memory, where nothing waits for a disk. Some containers have a small one. */
const MEMORY = '/dev/shm'
const isRoomy = async () => {
  const { bavail, bsize } = await statfs(MEMORY)
  return bavail * bsize > 4 * 2 ** 30 && process.availableMemory() > 8 * 2 ** 30
}
if (await isRoomy().catch(() => false)) process.env['TMPDIR'] = MEMORY

/** Holds a file for each test file that a process has begun. */
const claims = await mkdtemp(join(tmpdir(), 'tollgate-claims-'))
t.teardown(() => rm(claims, { recursive: true }))

const [command = '', ...args] = node
const runner = [...args, '--enable-source-maps', join(import.meta.dirname, 'support', 'run-files.js'), claims]
for (const [number, group] of groups.entries())
  t.spawn(command, [...runner, ...group.map(name => join(import.meta.dirname, name))], {
    name: group.length === 1 ? String(group) : `group ${number}`,
    buffered: true,
    timeout: PROCESS_TIMEOUT_MS,
  })

t.test('every file has run', async t => {
  t.equal((await readdir(claims)).length, names.length)
})
