import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { Client } from '../support/client.ts'
import { needsPrograms } from '../support/needs.ts'
import { toRun } from '../support/program.ts'
import { freePorts } from '../support/server-program.ts'
import { ProgramProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// The service as its container runs it: as another user, without capabilities, and with nothing to write to but /data
// and /tmp, which is far smaller here. bubblewrap stands in for the container.

const NOBODY = '65534'
const TMP_BYTES = 4096

/** The arguments that run a command as the container does, with a folder in place of /data. */
const contained = (folder: string) => [
  ...[
    'bwrap',
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--size',
    String(TMP_BYTES),
    '--tmpfs',
    '/tmp',
  ],
  // The checkout may be in a folder that is now empty.
  ...['--ro-bind', process.cwd(), process.cwd(), '--bind', folder, folder],
  ...['--unshare-user', '--uid', NOBODY, '--gid', NOBODY, '--cap-drop', 'ALL', '--die-with-parent', '--'],
]

/** The environment of the image. */
const imageEnvironment = async () => {
  const [, pairs = ''] = /^ENV (.*)$/m.exec(await readFile('Dockerfile', 'utf8')) ?? []
  return Object.fromEntries(pairs.split(' ').map(pair => pair.split('=') as [string, string]))
}

/** Starts the service, and resolves to its address and a key that the first start prints. */
const startContained = async (t: Test, folder: string) => {
  const [port] = (await freePorts('127.0.0.1', 1)) as [number]
  const environment = { ...(await imageEnvironment()), PORT: String(port), DATA_DIR: folder }
  const service = new ProgramProcess([...contained(folder), ...toRun('src/main.ts')], environment)
  t.teardown(() => service.end('SIGKILL'))
  // A signal to bubblewrap would not reach it.
  const [, pid] = await service.until(/"pid":(\d+),"msg":"listening"/)
  return { service, pid: Number(pid), environment, url: `http://127.0.0.1:${port}` }
}

t.test('the first start makes its secrets and runs on a read-only root', needsPrograms('bwrap'), async t => {
  const folder = await temporaryFolder(t)
  const { service, pid, environment, url } = await startContained(t, folder)
  const [, key = ''] = await service.until(/(tg_sk_live_\w+)/)
  const run = { model: 'nano-banana-2', input: { prompt: 'A quiet mountain lake' } }
  t.match(await new Client(url, key).run(run), { status: 200, body: { status: 'completed' } })
  t.match(await readdir(folder), /master-secret/)
  // The health check of the image.
  const [, check = ''] = /CMD (\["node", "-e".*\])$/m.exec(await readFile('Dockerfile', 'utf8')) ?? []
  const [, ...script] = JSON.parse(check) as string[]
  await promisify(execFile)(process.execPath, script, { env: environment })
  await t.rejects(promisify(execFile)(process.execPath, script, { env: { ...environment, PORT: '1' } }))
  // A rebuild takes more room than /tmp has.
  const command = new ProgramProcess([...contained(folder), ...toRun('src/cli.ts'), 'views', 'rebuild'], environment)
  t.match(await command.ended, { code: 0 })
  process.kill(pid, 'SIGTERM')
  t.match(await service.ended, { code: 0 })
})
