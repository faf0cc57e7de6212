import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import type { WebhookSecret } from '../../schemas/api/webhook.ts'
import { readMasterSecret } from '../../src/boot/master-secret.ts'
import { readConfig } from '../../src/boot/read-config.ts'
import { webhookSecret } from '../../src/services/webhooks/send-webhook.ts'
import { instantProvider, openAccount, startService } from '../support/service.ts'
import { ServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

t.setTimeout(120_000)

const MASTER_SECRET = 'thirty-two characters, no fewer.'

t.test('without MASTER_SECRET a secret is generated once and stored for the owner only', async t => {
  const folder = join(await temporaryFolder(t), 'data')
  const { masterSecret } = readConfig({ DATA_DIR: folder })
  const secret = readMasterSecret(masterSecret)
  t.equal(Buffer.from(secret, 'base64url').byteLength, 32)
  t.equal(readMasterSecret(masterSecret), secret)
  t.same(await readdir(folder), ['master-secret'])
  const file = join(folder, 'master-secret')
  t.equal(await readFile(file, 'utf8'), secret)
  t.equal((await stat(file)).mode & 0o777, 0o600)
  t.not(readMasterSecret(readConfig({ DATA_DIR: await temporaryFolder(t) }).masterSecret), secret)
})

t.test('concurrent starts get the same secret', async t => {
  const path = join(await temporaryFolder(t), 'master-secret')
  const secrets = await atOnce(8, path)
  t.same(new Set(secrets), new Set([await readFile(path, 'utf8')]))
  t.same(await readdir(join(path, '..')), ['master-secret'])
})

t.test('MASTER_SECRET takes precedence over the stored secret', async t => {
  const folder = await temporaryFolder(t)
  const kept = readMasterSecret(readConfig({ DATA_DIR: folder }).masterSecret)
  const environment = { MASTER_SECRET }
  const service = await startService(t, { folder, environment, providers: { sandbox: instantProvider } })
  const customer = await openAccount(service)
  const { body } = await customer.send<WebhookSecret>('/v1/webhooks/secret')
  t.equal(body.secret, webhookSecret(MASTER_SECRET, customer.accountId))
  t.equal(await readFile(join(folder, 'master-secret'), 'utf8'), kept)
})

t.test('a given MASTER_SECRET is not stored', async t => {
  const folder = await temporaryFolder(t)
  t.equal(readMasterSecret(readConfig({ DATA_DIR: folder, MASTER_SECRET }).masterSecret), MASTER_SECRET)
  t.same(await readdir(folder), [])
})

t.test('a short MASTER_SECRET is refused without showing it', async t => {
  const short = MASTER_SECRET.slice(1)
  const service = new ServiceProcess(await temporaryFolder(t), { MASTER_SECRET: short })
  t.teardown(() => service.end('SIGKILL'))
  const { code, stdout, stderr } = await Promise.race([
    service.ended,
    service.listening().then(() => service.end('SIGKILL')),
  ])
  t.equal(code, 1)
  t.match(stderr, /^The configuration is invalid\.\nMASTER_SECRET must .*32.*\n$/)
  t.notMatch(stdout + stderr, short.slice(0, 8))
})

/**
 * Reads a missing secret in `count` threads at once. The threads share a process id, as services in separate containers
 * may.
 */
async function atOnce(count: number, path: string): Promise<string[]> {
  const arrived = new Int32Array(new SharedArrayBuffer(4))
  const script = `
    const { workerData, parentPort } = require('node:worker_threads')
    const { module, path, count, arrived } = workerData
    const read = async () => {
      if (module.endsWith('.ts')) (await import('tsx/esm/api')).register()
      const { readMasterSecret } = await import(module)
      const before = Atomics.add(arrived, 0, 1)
      if (before + 1 === count) Atomics.notify(arrived, 0)
      for (let now = before + 1; now < count; now = Atomics.load(arrived, 0)) Atomics.wait(arrived, 0, now)
      parentPort.postMessage(readMasterSecret({ kind: 'file', path }))
    }
    read()`
  const module = new URL(`../../src/boot/master-secret${extname(import.meta.url)}`, import.meta.url).href
  const read = () =>
    new Promise<string>((resolve, reject) => {
      const worker = new Worker(script, { eval: true, workerData: { module, path, count, arrived } })
      worker.once('message', resolve).once('error', reject)
    })
  return Promise.all(Array.from({ length: count }, read))
}
