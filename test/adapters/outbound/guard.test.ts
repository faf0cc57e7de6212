import { PassThrough } from 'node:stream'
import t, { type Test } from 'tap'
import { readRanges } from '../../../src/adapters/outbound/allowed-address.ts'
import type { Lookup } from '../../../src/adapters/outbound/guarded-agent.ts'
import { faultOf, GET, open, openForDevelopment, POST, SHORT_MS, serve, startCanary } from './servers.ts'

/** DNS results for names that do not resolve to the canary. */
const answers: Record<string, Awaited<ReturnType<Lookup>>> = {
  'mapped.example': [{ address: '::ffff:127.0.0.1', family: 6 }],
  'zone.example': [{ address: '::1%lo', family: 6 }],
  'metadata.example': [{ address: '169.254.169.254', family: 4 }],
  'several.example': ['10.0.0.1', '192.168.0.1', '127.0.0.1'].map(address => ({ address, family: 4 })),
  'nothing.example': [],
}

t.test('no URL reaches the internal network', async t => {
  const canary = await startCanary(t)
  const { port } = canary
  const lookedUp: string[] = []
  const outbound = open(t, {
    allowPrivate: false,
    // Every name that the guard resolves leads to the canary.
    lookup: async host => {
      lookedUp.push(host)
      return (
        answers[host] ?? [
          { address: '127.0.0.1', family: 4 },
          { address: '::1', family: 6 },
        ]
      )
    },
  })

  const vectors = [
    // Loopback, in every spelling of IPv4.
    `http://127.0.0.1:${port}/`,
    `https://127.0.0.1:${port}/`,
    `http://127.0.0.1.:${port}/`,
    `http://127.255.255.254:${port}/`,
    `http://127.1:${port}/`,
    `http://127.0.1:${port}/`,
    `http://2130706433:${port}/`,
    `http://0x7f000001:${port}/`,
    `http://0x7f.0x0.0x0.0x1:${port}/`,
    `http://0X7F.1:${port}/`,
    `http://0177.0.0.1:${port}/`,
    `http://017700000001:${port}/`,
    `http://00000177.0.0.1:${port}/`,
    `http://0x7f.0.0.01:${port}/`,
    `http://①②⑦.⓪.⓪.①:${port}/`,
    `http://１２７.０.０.１:${port}/`,
    `http://127。0。0。1:${port}/`,
    `http://%31%32%37.0.0.1:${port}/`,
    `http://127%2e0%2e0%2e1:${port}/`,
    `http://127.0.0.1\t:${port}/`,
    `http:127.0.0.1:${port}/`,
    `http:/\\127.0.0.1:${port}/`,
    `http:////127.0.0.1:${port}/`,
    ` HTTP://127.0.0.1:${port}/ `,
    `http://0:${port}/`,
    `http://0.0.0.0:${port}/`,
    // Loopback in IPv6, and IPv4 embedded in IPv6.
    `http://[::1]:${port}/`,
    `https://[::1]:${port}/`,
    `http://[0:0:0:0:0:0:0:1]:${port}/`,
    `http://[0000:0000:0000:0000:0000:0000:0000:0001]:${port}/`,
    `http://[::]:${port}/`,
    `http://[::ffff:127.0.0.1]:${port}/`,
    `http://[::ffff:7f00:1]:${port}/`,
    `http://[0:0:0:0:0:FFFF:7F00:0001]:${port}/`,
    `http://[::127.0.0.1]:${port}/`,
    `http://[::ffff:0:127.0.0.1]:${port}/`,
    `http://[64:ff9b::127.0.0.1]:${port}/`,
    `http://[64:ff9b::7f00:1]:${port}/`,
    `http://[64:ff9b:1::7f00:1]:${port}/`,
    `http://[2002:7f00:1::]:${port}/`,
    `http://[2001:0:7f00:1::]:${port}/`,
    `http://[::1%25lo]:${port}/`,
    `http://[::1%lo]:${port}/`,
    `http://[fe80::1%25eth0]:${port}/`,
    // Other internal or special addresses.
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:a9fe:a9fe]/latest/meta-data/',
    'http://[fd00:ec2::254]/latest/meta-data/',
    'http://2852039166/latest/meta-data/',
    `http://10.0.0.1:${port}/`,
    `http://172.16.0.1:${port}/`,
    `http://192.168.0.1:${port}/`,
    `http://100.64.0.1:${port}/`,
    `http://198.18.0.1:${port}/`,
    `http://192.0.2.1:${port}/`,
    `http://198.51.100.1:${port}/`,
    `http://203.0.113.1:${port}/`,
    `http://224.0.0.1:${port}/`,
    `http://240.0.0.1:${port}/`,
    `http://255.255.255.255:${port}/`,
    `http://[fe80::1]:${port}/`,
    `http://[fec0::1]:${port}/`,
    `http://[fc00::1]:${port}/`,
    `http://[ff02::1]:${port}/`,
    `http://[2001:db8::1]:${port}/`,
    // Names reserved for internal use.
    `http://localhost:${port}/`,
    `https://localhost:${port}/`,
    `http://LOCALHOST:${port}/`,
    `http://localhost.:${port}/`,
    `http://ｌｏｃａｌｈｏｓｔ:${port}/`,
    `http://loc%61lhost:${port}/`,
    `http://loc\nalhost:${port}/`,
    `http://anything.localhost:${port}/`,
    `http://printer.local:${port}/`,
    `http://metadata.google.internal:${port}/`,
    `http://nas.home.arpa:${port}/`,
    `http://redis:${port}/`,
    // Public DNS names that resolve to internal addresses.
    `http://loopback.example:${port}/`,
    `https://loopback.example:${port}/`,
    `http://LOOPBACK.example.:${port}/`,
    `http://127.0.0.1.nip.example:${port}/`,
    `http://mapped.example:${port}/`,
    `http://zone.example:${port}/`,
    `http://metadata.example:${port}/`,
    `http://several.example:${port}/`,
    `http://nothing.example:${port}/`,
    // Misleading hosts, and credentials in the URL.
    `http://8.8.8.8@127.0.0.1:${port}/`,
    `http://example.com:80@127.0.0.1:${port}/`,
    `http://127.0.0.1:${port}@example.com/`,
    `http://user:secret@loopback.example:${port}/`,
    `http://:secret@loopback.example:${port}/`,
    `http://loopback.example:${port}#@example.com/`,
    `http://loopback.example:${port}?@example.com/`,
    `http://127.0.0.1:${port}\\@example.com/`,
    // Other schemes, and invalid URLs.
    'file:///etc/passwd',
    `ftp://127.0.0.1:${port}/`,
    `gopher://127.0.0.1:${port}/_x`,
    `ws://127.0.0.1:${port}/`,
    `unix:/var/run/docker.sock`,
    `javascript:alert(1)`,
    'data:text/plain,x',
    'blob:http://127.0.0.1/x',
    `//127.0.0.1:${port}/`,
    `127.0.0.1:${port}`,
    `http://127.0.0.1%00.example:${port}/`,
    'http://',
    'http://[::1',
    'http://256.256.256.256/',
    '',
  ]
  t.equal(new Set(vectors).size, vectors.length)

  for (const vector of vectors)
    for (const send of [() => outbound.get(vector, GET), () => outbound.post(vector, POST)]) {
      const fault = await faultOf(send())
      t.equal(fault.kind, 'refused', JSON.stringify(vector))
      t.notMatch(fault.message, /\d/, 'the message contains no address')
    }

  t.equal(canary.connections, 0)
  t.ok(lookedUp.includes('loopback.example'))
  t.notOk(
    lookedUp.some(host => /localhost|internal|local\.?$|arpa|redis|^[\d.]+$|:/.test(host)),
    'names that cannot be public are not resolved',
  )

  await openForDevelopment(t)
    .get(`http://127.0.0.1:${port}/`, GET)
    .catch(() => undefined)
  t.equal(canary.connections, 1, 'the canary would have noticed a connection')
})

t.test('a name that resolves differently after the check leads nowhere', async t => {
  const canary = await startCanary(t)
  // 3ffe::/16 counts as public, but was returned, so no host on the internet has such an address.
  const replies = ['3ffe::1', '127.0.0.1', '127.0.0.1']
  let lookups = 0
  const outbound = open(t, {
    allowPrivate: false,
    lookup: async () => {
      const address = replies[lookups++] ?? '127.0.0.1'
      return [{ address, family: address.includes(':') ? 6 : 4 }]
    },
  })
  const send = () => faultOf(outbound.get(`http://rebinding.example:${canary.port}/`, { ...GET, timeoutMs: SHORT_MS }))
  t.equal((await send()).kind, 'failed')
  t.equal(lookups, 1, 'the checked address is the one that is used')
  t.equal((await send()).kind, 'refused')
  t.equal(lookups, 2, 'each connection resolves the name again')
  t.equal(canary.connections, 0)
})

t.test('only the public addresses of a name are used', async t => {
  const canary = await startCanary(t)
  const outbound = open(t, {
    allowPrivate: false,
    lookup: async () => [
      { address: '127.0.0.1', family: 4 },
      { address: '3ffe::1', family: 6 },
      { address: '::1', family: 6 },
    ],
  })
  const fault = await faultOf(outbound.get(`http://mixed.example:${canary.port}/`, { ...GET, timeoutMs: SHORT_MS }))
  t.equal(fault.kind, 'failed')
  t.equal(canary.connections, 0)
})

t.test('in development, denied addresses are neither accepted nor contacted', async t => {
  const canary = await startCanary(t)
  const outbound = open(t, {
    allowPrivate: true,
    denied: readRanges(['127.0.0.0/8', '::1']),
    lookup: async () => [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ],
  })
  const literal = ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]'].map(host => `http://${host}:${canary.port}/`)
  for (const url of literal) t.ok(outbound.refuses(url), url)
  for (const url of [...literal, `http://localhost:${canary.port}/`])
    t.equal((await faultOf(outbound.get(url, GET))).kind, 'refused', url)
  t.equal(canary.connections, 0)
  t.notOk(outbound.refuses('http://10.0.0.1/'))
})

t.test('a redirect of a POST or a copy is not followed', async t => {
  const canary = await startCanary(t)
  for (const status of REDIRECTS) {
    const url = await redirecting(t, status, `http://127.0.0.1:${canary.port}/`)
    const outbound = openForDevelopment(t)
    t.equal((await outbound.post(url, POST)).status, status)
    const fault = await faultOf(outbound.copy(url, new PassThrough(), GET))
    t.equal(fault.kind, 'failed')
    t.match(fault.message, String(status))
  }
  t.equal(canary.connections, 0)
})

t.test('no redirect of a document reaches a denied address or another scheme', async t => {
  const canary = await startCanary(t, ['127.0.0.2'])
  const { port } = canary
  const outbound = open(t, {
    allowPrivate: true,
    denied: readRanges(['127.0.0.2']),
    lookup: async () => [{ address: '127.0.0.2', family: 4 }],
  })
  const targets = [
    `http://127.0.0.2:${port}/`,
    `//127.0.0.2:${port}/`,
    `http://2130706434:${port}/`,
    `http://[::ffff:127.0.0.2]:${port}/`,
    `http://inside.example:${port}/`,
    `http://user:secret@outside.example:${port}/`,
    'file:///etc/passwd',
    'data:image/png;base64,AAAA',
    'ftp://127.0.0.2/',
    'http://[',
  ]
  for (const status of REDIRECTS)
    for (const target of targets) {
      // A redirect to the server itself comes before.
      const url = await redirecting(t, status, target)
      for (const address of [url, `${url}again`]) {
        const fault = await faultOf(outbound.get(address, GET))
        t.equal(fault.kind, 'refused', `${status} ${target}`)
        t.notMatch(fault.message, /\d/)
      }
    }
  t.equal(canary.connections, 0)
})

const REDIRECTS = [301, 302, 303, 307, 308]

/** A server that redirects to a target, from `/again` by way of `/`. */
const redirecting = (t: Test, status: number, target: string) =>
  serve(t, ({ url }, response) => response.writeHead(status, { Location: url === '/again' ? '/' : target }).end('no'))
