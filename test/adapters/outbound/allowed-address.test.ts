import t from 'tap'
import { AllowedAddresses, readRanges } from '../../../src/adapters/outbound/allowed-address.ts'

const addresses = new AllowedAddresses()

t.test('public addresses are public', async t => {
  const found = [
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '169.253.255.255',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2001:4860:4860::8888',
    '2606:4700::1111',
    '2A00:1450:4001:81B::200E',
    '3ffe::1',
    '2606:4700::808:808',
    '2606:4700::53',
    '2606:4700::1:5efe:a00:1',
  ]
  for (const address of found) {
    t.ok(addresses.hasAddress(address), address)
    t.ok(addresses.hasHost(address), address)
  }
})

t.test('special-purpose addresses are not public', async t => {
  const found: Record<string, string[]> = {
    'this network': ['0.0.0.0', '0.1.2.3'],
    private: ['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255'],
    'carrier-grade NAT': ['100.64.0.0', '100.127.255.255'],
    loopback: ['127.0.0.0', '127.0.0.1', '127.255.255.255', '::1'],
    'link-local': ['169.254.0.0', '169.254.169.254', 'fe80::1', 'febf::1'],
    'protocol assignments': ['192.0.0.1', '192.0.0.170', '2001:1::1'],
    documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
    relays: ['192.88.99.1', '192.52.193.1', '192.31.196.1', '2001:3::1'],
    benchmarking: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
    multicast: ['224.0.0.1', '239.255.255.250', 'ff02::1', 'ff0e::1'],
    reserved: ['240.0.0.1', '255.255.255.254'],
    broadcast: ['255.255.255.255'],
    unspecified: ['::', '0:0:0:0:0:0:0:0'],
    'unique local': ['fc00::1', 'fd00:ec2::254', 'fdff::1'],
    'site-local': ['fec0::1'],
    discard: ['100::1'],
    'IPv4 mapped': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', '0:0:0:0:0:FFFF:a9fe:a9fe'],
    'IPv4 translated': ['::ffff:0:127.0.0.1', '::ffff:0:7f00:1'],
    'IPv4 compatible': ['::127.0.0.1', '::7f00:1', '::8.8.8.8'],
    NAT64: ['64:ff9b::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::7f00:1', '64:ff9b:1:ffff::1'],
    '6to4': ['2002:7f00:1::', '2002:a9fe:a9fe::1', '2002:808:808::1'],
    'NAT64 with another prefix': ['2606:4700::7f00:1', '2606:4700::10.1.2.3', '2606:4700:64::a9fe:a9fe'],
    ISATAP: ['2606:4700::5efe:a00:1', '2606:4700::200:5efe:808:808'],
    Azure: ['168.63.129.16'],
    Teredo: ['2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001::1'],
    unassigned: ['200::1', '1000::1', '4000::1', '5f00::1', '8000::1', 'e000::1'],
    'with a zone': ['fe80::1%lo', '::1%1', '2606:4700::1111%eth0'],
  }
  for (const [range, members] of Object.entries(found))
    for (const address of members) {
      t.notOk(addresses.hasAddress(address), `${range}: ${address}`)
      t.notOk(addresses.hasHost(address), `${range}: ${address}`)
    }
})

t.test('invalid addresses are not public', async t => {
  const spellings = ['', ' ', '8.8.8', '134744072', '0x08080808', '010.8.8.8', '8.8.8.8 ', '8.8.8.8/32', '[::1]', 'a.b']
  for (const spelling of spellings) t.notOk(addresses.hasAddress(spelling), JSON.stringify(spelling))
})

t.test('public DNS names are public, and reserved ones are not', async t => {
  const outside = [
    'example.com',
    'example.com.',
    'EXAMPLE.COM',
    'xn--bcher-kva.example',
    'notlocalhost.com',
    'local.example',
  ]
  for (const name of outside) t.ok(addresses.hasHost(name), name)
  const inside = [
    '',
    '.',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'localhost..',
    'a.localhost',
    'a.LocalHost.',
    'redis',
  ]
  const kept = ['printer.local', 'metadata.google.internal', 'metadata.google.internal.', 'home.arpa', 'nas.home.arpa']
  for (const name of [...inside, ...kept]) t.notOk(addresses.hasHost(name), name)
})

t.test('further addresses are denied', async t => {
  const some = new AllowedAddresses({ denied: readRanges(['8.8.8.0/24', '1.1.1.1', '2606:4700::/32', '2620:fe::fe']) })
  for (const address of ['8.8.8.8', '1.1.1.1', '2606:4700::1111', '2620:fe::fe', '168.63.129.16', '10.0.0.1'])
    t.notOk(some.hasAddress(address), address)
  for (const address of ['8.8.9.8', '1.1.1.2', '2606:4701::1111', '2620:fe::9']) t.ok(some.hasAddress(address), address)
  for (const text of ['example.com', '1.2.3.4/33', '1.2.3.4/x', '::/129', '']) t.throws(() => readRanges([text]), text)
})

t.test('an IPv6 address that leads to a denied IPv4 address is denied', async t => {
  const some = new AllowedAddresses({ denied: readRanges(['8.8.8.0/24']) })
  for (const address of ['2001:470:1:2::808:808', '2001:470:1:2::a83f:8110']) {
    t.notOk(some.hasAddress(address), address)
    t.notOk(some.hasHost(address), address)
  }
  for (const address of ['2001:470:1:2::808:908', '2001:470:1:2:1::808:808', '2001:470:1:2::1:808:808'])
    t.ok(some.hasAddress(address), address)
})

t.test('where private addresses are allowed, denied ones are still denied', async t => {
  const some = new AllowedAddresses({
    denied: readRanges(['10.1.0.0/16', 'fd00:1::/32', 'fe80::9']),
    allowPrivate: true,
  })
  const allowed = ['10.2.0.1', '127.0.0.1', '::1', 'fd00:2::1', 'fe80::1%lo', '8.8.8.8', '::ffff:10.2.0.1']
  for (const address of allowed) t.ok(some.hasAddress(address), address)
  for (const name of ['localhost', 'redis', 'nas.home.arpa', 'example.com']) t.ok(some.hasHost(name), name)
  const denied = ['10.1.2.3', '168.63.129.16', 'fd00:1::1', 'fe80::9%lo']
  const embedding = [
    ...['::ffff:10.1.2.3', '::ffff:0:a01:203', '::10.1.2.3', '64:ff9b::a01:203', 'fd00:2::a01:203', '2002:a01:203::1'],
    ...['2001:0:4136:e378:8000:63bf:f5fe:fdfc', 'fe80::5efe:a01:203', '::ffff:168.63.129.16'],
  ]
  for (const address of [...denied, ...embedding]) {
    t.notOk(some.hasAddress(address), address)
    t.notOk(some.hasHost(address), address)
  }
})
