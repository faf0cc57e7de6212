import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { LOG_RESERVE_BYTES } from '../../src/adapters/free-space.ts'
import { fullDisk, needsFullDisk } from '../adapters/object-store/full-disk.ts'
import { Client, picture } from '../support/client.ts'
import { runCommand } from '../support/command-runner.ts'
import { filePart, upload } from '../support/multipart.ts'
import { needsPrograms } from '../support/needs.ts'
import { picture as samplePicture } from '../support/sample-files.ts'
import { openAccounts } from '../support/service.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

const MB = 1024 * 1024

/** A run without a file. */
const text = { model: 'gemini-3-flash', input: { messages: [{ role: 'user', content: 'hello' }] } }

/** A service with two customers. `folder` has its stores. */
const start = async (t: Test, folder: string, env: Record<string, string> = {}) => {
  const customers = await openAccounts(folder, { credits: 100 }, { credits: 100 })
  const service = await startServiceProcess(t, folder, env)
  const [client, other] = customers.map(({ apiKey }) => new Client(service.url, apiKey)) as [Client, Client]
  t.equal((await client.run(picture)).status, 200)
  // The views show the run.
  t.equal((await client.send('/v1/runs')).status, 200)
  return { service, client, other }
}

/** Asserts what a client gets while the disk takes no events: what it has done, and 503 for anything new. */
const expectReadsOnly = async (t: Test, { client, other }: { client: Client; other: Client }) => {
  const { status, body } = await until('the disk is checked', async () => {
    const ready = await client.send('/readyz')
    return ready.status === 503 && ready
  })
  t.match({ status, body }, { status: 503, body: { error: { code: 'unavailable', message: /^Not ready: .*disk/ } } })
  // The log checks the disk by itself. A run that it took in the second before could not end.
  const file = { filename: 'a.png', mime_type: 'image/png' }
  await until('a write is refused', async () => (await other.post('/v1/uploads/presigned', file)).status === 503)
  const balance = await client.balance()
  const runs = await client.send<{ data: { id: string }[] }>('/v1/runs')
  t.equal(runs.body.data.length, 1)
  const png = await samplePicture('png')
  for (const write of [() => client.run(text), () => client.run(picture), () => upload(client, filePart(png))]) {
    const { status, headers, body } = await write()
    t.match({ status, code: body.error?.code }, { status: 503, code: 'unavailable' })
    t.ok(Number(headers.get('Retry-After')) > 0)
  }
  t.equal(await client.balance(), balance, 'nothing is charged')
}

/** Asserts that the same process works again, and that its log is sound. */
const expectRecovery = async (t: Test, service: ServiceProcess, client: Client, folder: string) => {
  await until('the service is ready', async () => (await client.send('/readyz')).status === 200)
  await until('files are stored', async () => (await client.run(picture)).status === 200)
  t.equal((await client.run(text)).status, 200)
  t.equal((await service.end('SIGTERM')).code, 0, 'the process has not ended in between')
  for (const command of ['audit', 'views'])
    t.match(await runCommand({ args: [command, 'verify'], env: { DATA_DIR: folder } }), { code: 0 })
}

t.test('on a full disk, a service reads, and later writes again', needsFullDisk(), async t => {
  const disk = await fullDisk(t, 400)
  const folder = join(disk, 'data')
  const started = await start(t, folder)
  const { service, client } = started
  for (const leftBytes of [LOG_RESERVE_BYTES - MB, 0]) {
    const { bavail, bsize } = await statfs(disk)
    const bytes = Buffer.alloc(bavail * bsize - leftBytes + (leftBytes === 0 ? MB : 0))
    await writeFile(join(disk, `filler-${leftBytes}`), bytes).catch(() => undefined)
    await expectReadsOnly(t, started)
  }
  for (const leftBytes of [LOG_RESERVE_BYTES - MB, 0]) await rm(join(disk, `filler-${leftBytes}`))
  await expectRecovery(t, service, client, folder)
})

t.test('views on a full disk of their own catch up later', needsFullDisk(), async t => {
  const [disk, folder] = [await fullDisk(t, 150), await temporaryFolder(t)]
  const env = { VIEW_STORE_URL: `lmdb:${join(disk, 'views')}` }
  const { service, client } = await start(t, folder, env)
  await writeFile(join(disk, 'filler'), Buffer.alloc(150 * MB)).catch(() => undefined)
  await until('the disk is checked', async () => (await client.send('/readyz')).status === 503)
  // The log has room.
  for (let run = 0; run < 20; run++) t.equal((await client.run(text)).status, 200)
  await service.until(/the disk of \S+views has 0 MB free/)
  await rm(join(disk, 'filler'))
  await until('the views catch up', async () => {
    const { status, body } = await client.send<{ data: unknown[] }>('/v1/runs?limit=100')
    return status === 200 && body.data.length === 21
  })
  t.equal((await service.end('SIGTERM')).code, 0)
})

/** The tap options of tests in which system calls of a running service fail. */
const needsStrace = needsPrograms('strace')

/** Lets system calls of a service fail on some files. Resolves to a function that ends this. */
const fail = async (t: Test, { pid }: ServiceProcess, calls: string, code: string, ...paths: string[]) => {
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  const [command = '', ...args] = [...sudo, 'strace', '-f', '-o', '/dev/null', '-p', String(pid)]
  const inject = ['-e', `trace=${calls}`, '-e', `inject=${calls}:error=${code}`, ...paths.flatMap(path => ['-P', path])]
  const strace = spawn(command, [...args, ...inject], { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(strace, 'close')
  t.teardown(() => strace.kill('SIGKILL'))
  await once(strace.stderr, 'data')
  return async () => {
    strace.kill('SIGINT')
    await ended
  }
}

t.test('on a disk that turned read-only, a service reads, and later writes again', needsStrace, async t => {
  const folder = await temporaryFolder(t)
  const started = await start(t, folder)
  const { service, client } = started
  const probes = ['log', 'views', 'objects/arriving'].map(store => join(folder, store, `.writable-${service.pid}`))
  const mend = await fail(t, service, 'unlink,unlinkat', 'EROFS', ...probes)
  await expectReadsOnly(t, started)
  await mend()
  await expectRecovery(t, service, client, folder)
})

t.test('a commit that the disk refuses in the second before a check is not charged', needsStrace, async t => {
  const folder = await temporaryFolder(t)
  const { service, client } = await start(t, folder)
  const mend = await fail(t, service, 'pwrite64,writev', 'ENOSPC', join(folder, 'log', 'data.mdb'))
  const { status, headers } = await client.run(text)
  t.equal(status, 503)
  t.ok(headers.has('Retry-After'))
  t.equal(await client.balance(), 90)
  await mend()
  await expectRecovery(t, service, client, folder)
})

t.test(
  'a service ends when the disk does not confirm an event, and the next one has all others',
  needsStrace,
  async t => {
    const folder = await temporaryFolder(t)
    const { service, client } = await start(t, folder)
    await fail(t, service, 'fsync,fdatasync,msync', 'EIO', join(folder, 'log', 'data.mdb'))
    await t.rejects(client.run(text))
    const { code, stdout } = await service.ended
    t.equal(code, 1)
    t.match(stdout, /a commit to the event log failed; stopping the process/)
    const next = await startServiceProcess(t, folder)
    t.equal(await client.at(next.url).balance(), 90)
    await expectRecovery(t, next, client.at(next.url), folder)
  },
)

t.test('views that the disk does not confirm do not end a service', needsStrace, async t => {
  const folder = await temporaryFolder(t)
  const { service, client } = await start(t, folder)
  const mend = await fail(t, service, 'fsync,fdatasync,msync', 'EIO', join(folder, 'views', 'data.mdb'))
  for (let run = 0; run < 20; run++) t.equal((await client.run(text)).status, 200)
  await mend()
  await expectRecovery(t, service, client, folder)
})

t.test('a result that cannot be stored fails its run with a refund', needsStrace, async t => {
  const folder = await temporaryFolder(t)
  const { service, client } = await start(t, folder)
  const mend = await fail(t, service, 'link,linkat', 'ENOSPC')
  const { status, body } = await client.run(picture)
  t.match({ status, body }, { status: 200, body: { status: 'failed', error: { code: String } } })
  t.equal(await client.balance(), 90)
  await mend()
  await expectRecovery(t, service, client, folder)
})
