import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { keepFilesPrivate } from '../../src/boot/process.ts'
import { startTlsServer } from '../support/connect-proxy.ts'
import { startMailServer } from '../support/mail-server.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { needsPrograms } from '../support/needs.ts'
import { operatorOf } from '../support/operator.ts'
import { needsRedis, startRedis } from '../support/redis-server.ts'
import { salesEnvironment } from '../support/sales.ts'
import { openAccount, openAccounts, startService } from '../support/service.ts'
import { startStripe } from '../support/stripe/stub.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { KEY, startOpenAi } from '../support/vendors/openai.ts'

interface Finding {
  check: string
  state: string
  text: string
}

const folder = await temporaryFolder(t)

const examine = async (dataDir: string, environment: Record<string, string> = {}, ...args: string[]) => {
  const { code, stdout, stderr } = await operatorOf(dataDir, environment).run('doctor', '--json', ...args)
  t.equal(stderr, '')
  const found: Finding[] = JSON.parse(stdout)
  const told = (check: string) => found.flatMap(each => (each.check === check ? [`${each.state}: ${each.text}`] : []))
  return { code, told }
}

t.test('a service that works has no fault', needsPrograms('openssl'), async t => {
  const service = await startService(t, { folder })
  await openAccount(service)
  const mail = await startMailServer(t)
  const openAi = await startOpenAi(t)
  const sales = await salesEnvironment(t, await startStripe(t))
  const tls = await startTlsServer(t, ['DNS:localhost'])
  const environment = {
    ...mail.environment,
    ...sales,
    ...{ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: openAi.url },
    PUBLIC_URL: `https://127.0.0.1:${tls.port}`,
  }
  const { code, told } = await examine(folder, environment, '--mail', 'ada@example.com')
  t.equal(code, 0)
  t.same(told('configuration'), ['ok: valid'])
  t.match(told('files'), [/^ok: .* is writable and private$/])
  t.match(told('room'), [/^ok: [\d,]+ MB free for /])
  t.match(told('log'), [/^ok: the newest event is of /, 'ok: the clock is not behind the newest event'])
  t.same(told('secrets'), ['ok: the master secret is there', 'ok: the log has no seal yet'])
  t.match(told('views'), [/^ok: the views show the log up to position \d+$/])
  t.same(told('objects'), ['ok: files can be stored'])
  t.match(told('certificates'), [/^warning: the certificate of .* is valid until .*; renew it$/])
  t.same(told('mail'), ['ok: a message went to ada@example.com'])
  t.match(mail.received, [{ to: ['ada@example.com'], text: /shows that mail of Tollgate arrives/ }])
  t.match(told('payments'), [/^warning: Stripe takes STRIPE_SECRET_KEY, in test mode: test cards buy credits/])
  t.match(told('providers'), [/^ok: openai \w+ works$/])
})

t.test('each fault says what to do, and no secret is shown', needsRedis(), async t => {
  const clock = new ManualClock(Date.now() + 3_600_000)
  const dataDir = await temporaryFolder(t)
  await openAccount(await startService(t, { folder: dataDir, clock }))
  await chmod(join(dataDir, 'master-secret'), 0o644)
  const redis = await startRedis(['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'])
  t.teardown(() => redis.stop())
  const mail = await startMailServer(t)
  mail.isFull = true
  const openAi = await startOpenAi(t)
  const environment = {
    ...mail.environment,
    ...(await salesEnvironment(t, await startStripe(t))),
    ...{ OPENAI_API_KEY: 'sk-wrong-0987654321', OPENAI_BASE_URL: openAi.url },
    STRIPE_SECRET_KEY: 'sk_test_wrong0987654321',
    VIEW_STORE_URL: redis.url,
    PUBLIC_URL: `https://127.0.0.1:${mail.port}`,
  }
  const { code, told } = await examine(dataDir, environment, '--mail', 'ada@example.com')
  t.equal(code, 1)
  t.match(told('files'), [/^warning: other users can open .*master-secret; run "chmod go= /])
  t.match(told('log').at(-1), /^fault: the clock of this machine is 3,\d{3} s behind the newest event; set the time/)
  t.match(told('views'), [
    /^warning: Redis may evict the views: .*allkeys-lru\); set it to noeviction/,
    /clock of Redis/,
  ])
  t.match(told('certificates'), [/^fault: 127\.0\.0\.1:\d+ cannot be reached: /])
  t.match(told('mail'), [/^fault: .*the mail server failed with \w+ 452/])
  t.match(told('payments'), [/^fault: Stripe refuses STRIPE_SECRET_KEY; set a secret key of your account/])
  t.match(told('providers'), [/^fault: openai \w+ does not work: OpenAI refuses the key; check OPENAI_API_KEY/])
  const text = await operatorOf(dataDir, environment).run('doctor')
  t.match(text.stdout, /^FAULT +log +the clock/m)
  t.notMatch(text.stdout, /wrong-?0987654321/)
})

t.test('nothing is checked without a valid configuration, and a wrong DATA_DIR is a fault', async t => {
  const invalid = await examine(folder, { PORT: 'none' })
  t.equal(invalid.code, 1)
  t.match(invalid.told('configuration'), [/^fault: PORT must be a/])
  t.same(invalid.told('log'), [])
  const missing = await examine(join(folder, 'missing'), { OPENAI_API_KEY: 'sk-none' })
  t.equal(missing.code, 1)
  t.match(missing.told('files'), [/^fault: .*which does not exist/])
  t.notOk(existsSync(join(folder, 'missing')))
})

t.test('a lost log is a fault with the advice of the service', async t => {
  const dataDir = await temporaryFolder(t)
  await openAccounts(dataDir, {})
  await rm(join(dataDir, 'log'), { recursive: true })
  const { told } = await examine(dataDir)
  t.same(told('secrets'), [])
  t.match(told('log'), [/^fault: .* holds no event log, but .* Restore the log from a backup/])
})

t.test('a folder with other files is not the folder of a service, and stays as it is', async t => {
  const dataDir = await temporaryFolder(t)
  await mkdir(join(dataDir, 'log'))
  await writeFile(join(dataDir, 'log', 'syslog'), '')
  await chmod(dataDir, 0o755)
  t.match((await examine(dataDir)).told('files'), [/^fault: .* holds other files, and no log/])
  t.match(await operatorOf(dataDir).refused(t, 'accounts', 'list'), 'holds other files, and no log')
  keepFilesPrivate(dataDir)
  t.equal((await stat(dataDir)).mode & 0o777, 0o755)
  t.same((await readdir(dataDir, { recursive: true })).sort(), ['log', 'log/syslog'])
})
