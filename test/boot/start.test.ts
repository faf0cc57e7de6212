import { execFile } from 'node:child_process'
import { copyFile, mkdir, open, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { openCore } from '../../src/boot/core.ts'
import { explainFailure } from '../../src/boot/process.ts'
import { readConfig } from '../../src/boot/read-config.ts'
import { startServer } from '../../src/boot/server.ts'
import { Client } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { isLong } from '../support/test-length.ts'
import { until } from '../support/until.ts'

// The tests start many processes, about one second each.
t.setTimeout(120_000)

/** Starts a service that must fail, and returns its error message. */
const failedStart = async (t: Test, folder: string, env: Record<string, string> = {}): Promise<string> => {
  const service = new ServiceProcess(folder, env)
  t.teardown(() => service.end('SIGKILL'))
  // A service that starts anyway fails the test at once.
  const { code, signal, stdout, stderr } = await Promise.race([
    service.ended,
    service.listening().then(() => service.end('SIGKILL')),
  ])
  t.equal(signal, null)
  t.equal(code, 1)
  t.notMatch(stdout, 'listening')
  t.notMatch(stderr, /^ +at /m, 'shows no stack')
  return stderr
}

t.test('an invalid variable is reported with its name and rule', async t => {
  const bad: [variable: string, value: string][] = [
    ['PORT', 'abc'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['PUBLIC_URL', 'example.com'],
    ['PUBLIC_URL', 'https://example.com/'],
    ['KEY_PREFIX', 'Tg_'],
    ['USD_PER_CREDIT', '0'],
    ['USD_PER_CREDIT', 'cheap'],
    ['USD_PER_CREDIT', '0.0000015'],
    ['WELCOME_CREDITS', '-1'],
    ['WELCOME_CREDITS', '0.1234567'],
    ['LOG_LEVEL', 'loud'],
  ]
  // All values are read here and one is tested as a process, because each process takes a second.
  for (const [variable, value] of bad) {
    const error = t.throws(() => readConfig({ [variable]: value })) as unknown as Error
    t.equal(error.message.split('\n').length, 1)
    t.ok(error.message.startsWith(`${variable} must `), error.message)
    t.match(error.message, value)
  }
  const folder = await temporaryFolder(t)
  const message = await failedStart(t, folder, { PORT: 'abc', LOG_LEVEL: 'loud' })
  t.match(message, /^The configuration is invalid\.\nPORT must be .*\nLOG_LEVEL must be .*\n$/)
})

t.test('an empty variable counts as unset', async t => {
  const names = ['PORT', 'HOST', 'DATA_DIR', 'PUBLIC_URL', 'EVENT_STORE_URL', 'KEY_PREFIX', 'WELCOME_CREDITS']
  t.same(readConfig(Object.fromEntries(names.map(name => [name, '']))), readConfig({}))
})

/** What a service says that fails to start, without its process. */
const failure = async (t: Test, environment: Record<string, string>): Promise<string> => {
  try {
    const core = await openCore(readConfig({ LOG_LEVEL: 'silent', PORT: '0', ...environment }))
    t.teardown(() => core.close())
    await startServer(core)
  } catch (error) {
    return explainFailure(error)
  }
  throw new Error('the service starts')
}

t.test('an unknown host is reported', async t => {
  t.match(await failure(t, { DATA_DIR: await temporaryFolder(t), HOST: 'nowhere.invalid' }), /HOST/)
})

t.test('an unwritable folder is reported', async t => {
  const file = join(await temporaryFolder(t), 'file')
  await writeFile(file, '')
  const message = await failure(t, { DATA_DIR: join(file, 'data') })
  t.match(message, `${file}/data/log cannot be written`)
  t.equal(message.trim().split('\n').length, 1)
})

t.test('a port in use is reported', async t => {
  const other = createServer()
  await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
  t.teardown(() => other.close())
  const { port } = other.address() as AddressInfo
  const message = await failure(t, { DATA_DIR: await temporaryFolder(t), PORT: String(port) })
  t.match(message, new RegExp(`:${port}\\b.*Set PORT to a free port`))
  t.equal(message.trim().split('\n').length, 1)
})

t.test('a damaged log is reported and left unchanged', async t => {
  const sound = await temporaryFolder(t)
  const service = await startService(t, { folder: sound })
  await service.stop()
  const file = join(sound, 'log/data.mdb')
  const { size } = await stat(file)

  const damages: Record<string, (path: string) => Promise<void>> = {
    'cut in half': path => truncate(path, size / 2),
    'its pages overwritten': async path => {
      const opened = await open(path, 'r+')
      await opened.write(Buffer.alloc(size - 8192, 0xa5), 0, size - 8192, 8192)
      await opened.close()
    },
    'cut to its first page': path => truncate(path, 4096),
    'cut by one byte': path => truncate(path, size - 1),
    'cut to zero bytes': path => truncate(path, 0),
    'another file': path => writeFile(path, 'garbage'.repeat(size / 7)),
  }
  // The short form takes one that the size of the file shows and one that its pages show.
  for (const [name, damage] of Object.entries(damages).slice(0, isLong ? undefined : 2))
    await t.test(name, async t => {
      const folder = await temporaryFolder(t)
      for (const store of ['log', 'views']) {
        await mkdir(join(folder, store))
        await copyFile(join(sound, store, 'data.mdb'), join(folder, store, 'data.mdb'))
      }
      const damaged = join(folder, 'log/data.mdb')
      await damage(damaged)
      const before = await readFile(damaged)
      const message = await failedStart(t, folder)
      t.match(message, `${folder}/log`)
      t.match(message, 'backup')
      t.equal(message.trim().split('\n').length, 1)
      t.ok(before.equals(await readFile(damaged)))
    })
})

t.test('only the first start prints a key and an example request', async t => {
  const folder = await temporaryFolder(t)
  const first = await startServiceProcess(t, folder)
  const [, command = ''] = await first.until(/^ +(curl .+?\}')$/ms)
  const { stdout: answer } = await promisify(execFile)('sh', ['-c', command])
  t.match(JSON.parse(answer), { object: 'run', status: 'completed', credits_charged: 10 })
  const { stdout } = await first.end('SIGTERM')
  const [key, ...others] = new Set(stdout.match(/tg_sk_live_[0-9a-f]{32}/g))
  t.same(others, [])
  t.equal(stdout.match(/curl /g)?.length, 1)

  const second = await startServiceProcess(t, folder)
  t.equal(await new Client(second.url, key).balance(), 10_090)
  const { stdout: quiet } = await second.end('SIGTERM')
  t.notMatch(quiet, /Welcome|sk_live|curl/)
})

t.test('a request during the start is answered once the service is ready', async t => {
  const PORT = String(await freePort())
  const core = await openCore(readConfig({ DATA_DIR: await temporaryFolder(t), PORT, LOG_LEVEL: 'silent' }))
  const starting = startServer(core)
  const client = new Client(`http://127.0.0.1:${PORT}`)
  const ask = async () => (await client.send('/healthz', { signal: AbortSignal.timeout(3000) })).status
  const isRefused = (error: Error & { cause?: { code?: string } }) => error.cause?.code === 'ECONNREFUSED'
  const status = await until('the port is open', () =>
    ask().catch(error => (isRefused(error) ? undefined : error.name)),
  )
  const server = await starting
  t.teardown(async () => {
    await server.stop()
    await core.close()
  })
  t.equal(status, 200)
})

const freePort = async (): Promise<number> => {
  const server = createSocketServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}
