import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { toRun } from '../support/program.ts'
import { openAccounts } from '../support/service.ts'
import { ProgramProcess, ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// The tests start many processes, about one second each.
t.setTimeout(120_000)

/** The messages of the warnings and errors in the log of a service. */
const warningsIn = (stdout: string): string[] =>
  stdout
    .split('\n')
    .filter(line => /^\{"level":[4-6]0/.test(line))
    .map(line => JSON.parse(line).msg)

t.test('an unknown option is refused', async t => {
  const service = new ServiceProcess(await temporaryFolder(t), {}, ['--newlog'])
  t.teardown(() => service.end('SIGKILL'))
  t.match(await service.ended, { code: 1, stderr: /^The configuration is invalid\.\n.*--newlog/ })
})

t.test(
  'a service that makes another master secret says so, and does not start without the keys of accounts',
  async t => {
    const folder = await temporaryFolder(t)
    await openAccounts(folder, {})
    await rm(join(folder, 'master-secret'))
    const service = new ServiceProcess(folder)
    t.teardown(() => service.end('SIGKILL'))
    const { code, stdout, stderr } = await service.ended
    t.equal(code, 1)
    t.match(warningsIn(stdout), [/master-secret is missing, .* makes another one/])
    t.match(stderr, /was made with another MASTER_SECRET/)
  },
)

t.test(
  'two services on one folder both say so, unless their roles were chosen, and each says a low limit of files',
  async t => {
    const together = 'another service uses the same DATA_DIR; set ROLES for each if that is intended'
    const folder = await temporaryFolder(t)
    const first = await startServiceProcess(t, folder)
    const roles = await startServiceProcess(t, folder, { ROLES: 'api,projector,reactors,sealer' })
    t.same(warningsIn((await roles.end('SIGTERM')).stdout), [])
    const second = await startServiceProcess(t, folder)
    await first.until(new RegExp(together))
    t.same(warningsIn((await second.end('SIGKILL')).stdout), [together])
    t.same(warningsIn((await first.end('SIGKILL')).stdout), [together])
    // Those that were killed are gone, and so only the limit of open files is said.
    const limited = ['sh', '-c', 'ulimit -n 1023 && exec "$@"', 'sh', ...toRun('src/main.ts')]
    const service = new ProgramProcess(limited, { DATA_DIR: folder, PORT: '0' })
    t.teardown(() => service.end('SIGKILL'))
    await service.until(/"msg":"listening"/)
    t.same(warningsIn((await service.end('SIGTERM')).stdout), [
      'this process may open few files; raise "ulimit -n" to 1024 or more',
    ])
  },
)
