import t, { type Test } from 'tap'
import { proxyFor } from '../../../src/adapters/outbound/proxy.ts'
import { startConnectProxy, startTlsServer } from '../../support/connect-proxy.ts'
import { needsPrograms } from '../../support/needs.ts'
import { ScriptProcess } from '../../support/service-process.ts'

const NAMES = ['DNS:vendor.example', 'DNS:receiver.example', 'DNS:exempt.example', 'IP:93.184.216.34', 'IP:127.0.0.1']

const start = async (t: Test) => {
  const server = await startTlsServer(t, NAMES)
  const proxy = await startConnectProxy(t, server.port)
  const send = async (url: string, noProxy: string, ...targets: string[]): Promise<unknown[]> => {
    const environment = { NODE_EXTRA_CA_CERTS: server.certificate }
    const script = new ScriptProcess('test/support/send-through-proxy.ts', [url, noProxy, ...targets], environment)
    const { code, stdout, stderr } = await script.ended
    t.equal(code, 0, stderr)
    return stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
  }
  return { server, proxy, send }
}

const authoritiesOf = ({ seen }: { seen: { authority: string | undefined }[] }) =>
  seen.map(({ authority }) => authority)

t.test(
  'a proxy gets the names of vendors, and checked addresses in place of those of clients',
  needsPrograms('openssl'),
  async t => {
    const { server, proxy, send } = await start(t)
    const results = await send(
      proxy.url.replace('//', '//ada:p%40ss@'),
      '',
      ...['vendor', 'identity'].map(kind => `${kind}=https://vendor.example/v1`),
      'webhook=https://receiver.example:8443/hook',
      'file=https://receiver.example/file',
      'file=https://93.184.216.34/file',
    )
    t.same(results, [200, 200, 200, 'application/json', 'application/json'])
    const named = authoritiesOf(proxy)
    t.same([...new Set(named.slice(0, -3))], ['vendor.example:443'])
    t.same(named.slice(-3), ['93.184.216.34:8443', '93.184.216.34:443', '93.184.216.34:443'])
    for (const { authorization } of proxy.seen)
      t.equal(authorization, `Basic ${Buffer.from('ada:p@ss').toString('base64')}`)
    t.same(server.seen, [
      ...Array(2).fill({ sni: 'vendor.example', host: 'vendor.example' }),
      { sni: 'receiver.example', host: 'receiver.example:8443' },
      { sni: 'receiver.example', host: 'receiver.example' },
      { sni: false, host: '93.184.216.34' },
    ])
  },
)

t.test('a proxy is no way around the guard', needsPrograms('openssl'), async t => {
  const { proxy, send } = await start(t)
  const targets = ['private.example', '10.0.0.1', '127.0.0.1', 'localhost', '[::1]', 'metadata.internal']
  const results = await send(proxy.url, '', ...targets.map(host => `webhook=https://${host}/`))
  t.same([...new Set(results)], ['The address is not public.'])
  t.same(proxy.seen, [])
})

t.test(
  'a proxy that refuses is a failure, and hosts in NO_PROXY are reached without it',
  needsPrograms('openssl'),
  async t => {
    const { server, proxy, send } = await start(t)
    proxy.status = 407
    const [webhook, vendor] = await send(
      proxy.url,
      '',
      'webhook=https://receiver.example/',
      'vendor=https://vendor.example/',
    )
    t.equal(webhook, 'The address could not be reached, or its response was cut off.')
    t.match(vendor, /407/)
    t.equal(proxy.seen.length, 2)
    const local = `vendor=https://127.0.0.1:${server.port}/`
    t.same(await send(proxy.url, `exempt.example,127.0.0.1:${server.port}`, local), [200])
    t.equal(proxy.seen.length, 2)
  },
)

t.test('NO_PROXY names hosts, their subdomains and ports', async t => {
  const noProxy = 'Example.com, .internal *.corp,10.0.0.7:8443,[2001:db8::7]'
  const cases: [host: string, port: number, isProxied: boolean][] = [
    ['example.com', 443, false],
    ['api.EXAMPLE.com', 443, false],
    ['notexample.com', 443, true],
    ['a.internal', 443, false],
    ['internal', 443, false],
    ['a.corp', 443, false],
    ['10.0.0.7', 8443, false],
    ['10.0.0.7', 443, true],
    ['[2001:db8::7]', 443, false],
    ['other.test', 443, true],
  ]
  const url = 'http://proxy:3128'
  for (const [host, port, isProxied] of cases)
    t.equal(proxyFor({ url, noProxy }, host, port), isProxied ? url : undefined, `${host}:${port}`)
  t.equal(proxyFor({ url, noProxy: '*' }, 'example.com', 443), undefined)
  t.equal(proxyFor({ url, noProxy: '' }, 'example.com', 443), url)
  t.equal(proxyFor(undefined, 'example.com', 443), undefined)
})
