import t from 'tap'
import { ConfigError } from '../../src/boot/config.ts'
import { readConfig } from '../../src/boot/read-config.ts'
import { startConnectProxy, startTlsServer } from '../support/connect-proxy.ts'
import { startMailServer } from '../support/mail-server.ts'
import { needsPrograms } from '../support/needs.ts'
import { operatorOf } from '../support/operator.ts'
import { openAccounts } from '../support/service.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { deadAddress } from '../support/vendors/vendor-parts.ts'

t.test('the proxy of the environment is read in either case', async t => {
  const url = 'http://ada:hush@proxy.example:3128'
  t.equal(readConfig({}).proxy, undefined)
  t.same(readConfig({ HTTPS_PROXY: url, NO_PROXY: 'a,b' }).proxy, { url, noProxy: 'a,b' })
  t.same(readConfig({ https_proxy: url, no_proxy: 'a' }).proxy, { url, noProxy: 'a' })
  t.equal(readConfig({ HTTPS_PROXY: '', https_proxy: url }).proxy, undefined, 'an empty one switches it off')
  for (const wrong of [
    'proxy.example:3128',
    'socks5://ada:hush@proxy',
    'http://ada:hush@pro xy',
    'http://ada:hush@proxy:99999',
  ]) {
    const { message } = t.throws(() => readConfig({ HTTPS_PROXY: wrong }), ConfigError) as unknown as Error
    t.match(message, /^HTTPS_PROXY/)
    t.notMatch(message, /hush/)
  }
})

t.test('a service reaches receivers and providers through the proxy', needsPrograms('openssl'), async t => {
  const server = await startTlsServer(t, ['IP:93.184.216.34', 'DNS:vendor.example'])
  const proxy = await startConnectProxy(t, server.port)
  const environment = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: server.certificate }
  const folder = await temporaryFolder(t)
  const [customer] = await openAccounts(folder, {})
  const vendor = { OPENAI_API_KEY: 'sk-1', OPENAI_BASE_URL: 'https://vendor.example/v1' }
  const { url } = await startServiceProcess(t, folder, { ...environment, ...vendor })
  const post = async (path: string, body: object) => {
    const headers = { Authorization: `Bearer ${customer.apiKey}`, 'Content-Type': 'application/json' }
    return (await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json()
  }
  const sent = await post('/v1/webhooks/test', { url: 'https://93.184.216.34:8443/hook' })
  t.match(sent, { delivered: true })
  t.same(proxy.seen, [{ authority: '93.184.216.34:8443', authorization: undefined }])
  await post('/v1/run', { model: 'gpt-6-1-terra', input: { prompt: 'hello' } })
  t.equal(proxy.seen.at(-1)?.authority, 'vendor.example:443')
  t.match(server.seen.at(-1), { sni: 'vendor.example', host: 'vendor.example' })
})

t.test('a check of providers names the proxy that refuses or is down', async t => {
  const proxy = await startConnectProxy(t, 9)
  proxy.status = 403
  const vendors = {
    ...{ OPENAI_API_KEY: 'sk-1', OPENAI_BASE_URL: 'https://vendor.example/v1' },
    ...{ FAL_KEY: 'a:b', FAL_BASE_URL: 'https://vendor.example' },
  }
  const folder = await temporaryFolder(t)
  const dead = new URL(await deadAddress()).host
  for (const [host, why] of [
    [new URL(proxy.url).host, 'the proxy answered with 403'],
    [dead, `connect ECONNREFUSED ${dead}`],
  ]) {
    const operator = operatorOf(folder, { ...vendors, HTTPS_PROXY: `http://ada:hush@${host}` })
    const { code, stdout } = await operator.run('providers', 'check')
    t.equal(code, 1)
    const fault = `does not work: ${host} opens no connection to vendor.example (${why}); check HTTPS_PROXY and NO_PROXY`
    t.equal(stdout.split(`${fault}\n`).length, 3, stdout)
    t.notMatch(stdout, /hush|BASE_URL/)
  }
})

t.test('mail goes through the proxy unless NO_PROXY names its server', async t => {
  const mail = await startMailServer(t)
  const proxy = await startConnectProxy(t, mail.port)
  const folder = await temporaryFolder(t)
  const invite = (environment: Record<string, string>) =>
    operatorOf(folder, { ...mail.environment, HTTPS_PROXY: proxy.url, ...environment }).run(
      ...['accounts', 'invite', 'ada@example.com', '--as', 'test'],
    )
  t.match(await invite({ SMTP_URL: 'smtp://ada:p%40ss@mail.example:587' }), { code: 0 })
  t.match(proxy.seen, [{ authority: 'mail.example:587' }])
  t.match(await invite({ NO_PROXY: '127.0.0.1' }), { code: 0 })
  t.equal(proxy.seen.length, 1)
  t.equal(mail.received.length, 2)
})
