import t from 'tap'
import { isPublicAddress, isPublicHost } from '../../../src/adapters/outbound/public-address.ts'

t.test('public addresses are public', async t => {
  const addresses = [
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
  ]
  for (const address of addresses) {
    t.ok(isPublicAddress(address), address)
    t.ok(isPublicHost(address), address)
  }
})

t.test('special-purpose addresses are not public', async t => {
  const addresses: Record<string, string[]> = {
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
    Teredo: ['2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001::1'],
    unassigned: ['200::1', '1000::1', '4000::1', '5f00::1', '8000::1', 'e000::1'],
    'with a zone': ['fe80::1%lo', '::1%1', '2606:4700::1111%eth0'],
  }
  for (const [range, members] of Object.entries(addresses))
    for (const address of members) {
      t.notOk(isPublicAddress(address), `${range}: ${address}`)
      t.notOk(isPublicHost(address), `${range}: ${address}`)
    }
})

t.test('invalid addresses are not public', async t => {
  const spellings = ['', ' ', '8.8.8', '134744072', '0x08080808', '010.8.8.8', '8.8.8.8 ', '8.8.8.8/32', '[::1]', 'a.b']
  for (const spelling of spellings) t.notOk(isPublicAddress(spelling), JSON.stringify(spelling))
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
  for (const name of outside) t.ok(isPublicHost(name), name)
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
  for (const name of [...inside, ...kept]) t.notOk(isPublicHost(name), name)
})
