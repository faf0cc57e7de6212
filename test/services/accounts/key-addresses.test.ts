import t from 'tap'
import { isWithin, toCidr } from '../../../src/services/accounts/key-addresses.ts'

const ranges: Record<string, string | undefined> = {
  '203.0.113.7': '203.0.113.7/32',
  '203.0.113.7/24': '203.0.113.0/24',
  '0.0.0.0/0': '0.0.0.0/0',
  '2001:0DB8:0:0::1': '2001:db8::1/128',
  '2001:db8::ffff/32': '2001:db8::/32',
  '::ffff:203.0.113.7': '203.0.113.7/32',
  '::ffff:203.0.113.7/120': '203.0.113.0/24',
  '::/0': '::/0',
  ...Object.fromEntries(
    [
      ...['', ' ', '/', '/8', 'localhost', '10.0.0', '10', '0x0a000001', '010.0.0.1', '10.0.0.1.', '10.0.0.0/33'],
      ...['10.0.0.0/-1', '10.0.0.0/08', '10.0.0.0/8/8', '10.0.0.0/8 ', '10.0.0.0/x', '::/129', 'fe80::1%eth0', ':::'],
      ...['10.0.0.0/255.0.0.0', '[::1]', '1.2.3.4:80'],
    ].map(text => [text, undefined]),
  ),
}

t.test('an address or range is written as a CIDR range, and other texts are none', async t => {
  for (const [text, cidr] of Object.entries(ranges)) t.equal(toCidr(text), cidr, JSON.stringify(text))
})

t.test('addresses are within ranges of their own kind', async t => {
  const cidrs = ['203.0.113.0/24', '2001:db8::/32']
  for (const address of ['203.0.113.0', '203.0.113.255', '::ffff:203.0.113.9', '2001:db8::1', '2001:db8::1%eth0'])
    t.ok(isWithin(address, cidrs), address)
  for (const address of ['203.0.112.255', '203.0.114.0', '2001:db9::1', '::1', '', 'unknown', '203.0.113'])
    t.notOk(isWithin(address, cidrs), address)
  t.notOk(isWithin('::1', ['0.0.0.0/0']))
  t.notOk(isWithin('127.0.0.1', ['::/0']))
})
