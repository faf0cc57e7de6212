import t from 'tap'
import { type AddressHeader, clientAddresses } from '../../src/http/connections/client-address.ts'
import { trust } from '../../src/http/connections/connections.ts'

const isTrusted = trust(['10.0.0.0/8', '2001:db8::1'])

const clientOf = (headers: { [Name in AddressHeader]?: string }, remoteAddress = '10.1.1.1', header?: AddressHeader) =>
  clientAddresses(isTrusted, header)({ socket: { remoteAddress }, headers } as never)

const xForwardedFor = (text: string) => clientOf({ 'x-forwarded-for': text })
const forwarded = (text: string) => clientOf({ forwarded: text }, '10.1.1.1', 'forwarded')

t.test('the client is the last address that is no trusted proxy', async t => {
  t.equal(clientOf({ 'x-forwarded-for': '1.2.3.4' }, '198.51.100.7'), '198.51.100.7', 'no proxy')
  t.equal(clientOf({}), '10.1.1.1', 'the proxy itself')
  t.equal(xForwardedFor('6.6.6.6, 1.2.3.4'), '1.2.3.4')
  t.equal(xForwardedFor('10.3.3.3, 10.2.2.2'), '10.3.3.3', 'proxies alone')
  t.equal(xForwardedFor(' , 1.2.3.4,, 10.2.2.2 ,'), '1.2.3.4')
  const mapped = clientOf({ 'x-forwarded-for': '1.2.3.4, 2001:db8::1, 10.2.2.2' }, '::ffff:10.1.1.1')
  t.equal(mapped, '1.2.3.4')
})

const SPELLINGS = {
  '203.0.113.7:51234': '203.0.113.7',
  '[2001:db8::7]': '2001:db8::7',
  '[2001:db8::7]:443': '2001:db8::7',
  '"203.0.113.7"': '203.0.113.7',
  '"203.0.113.7:51234"': '203.0.113.7',
  '"[2001:db8::7]:443"': '2001:db8::7',
  '"[2001:db8::7]:_hidden"': '2001:db8::7',
  '2001:db8::7': '2001:db8::7',
  '2001:0DB8:0::0:0007': '2001:db8::7',
  '2001:db8:0:0:1::': '2001:db8:0:0:1::',
  '::ffff:203.0.113.7': '203.0.113.7',
  '[::FFFF:cb00:7107]:443': '203.0.113.7',
}

t.test('ports, brackets and quotes are understood, also those of proxies', async t => {
  for (const [text, address] of Object.entries(SPELLINGS)) {
    t.equal(xForwardedFor(text), address, text)
    t.equal(xForwardedFor(`6.6.6.6, ${text}, 10.2.2.2:443, "[2001:db8::1]:443"`), address, text)
  }
})

const UNREADABLE = [
  ...['<script>', 'unknown', '_hidden', '1.2.3.4:port', '1.2.3.4:123456', '1.2.3', '1.2.3.4.5', '0x0a.1'],
  ...['[2001:db8::7', '2001:db8::7]', '[1.2.3.4]', '[2001:db8::7]443', '"1.2.3.4', '""', '1.2.3.4/8'],
]

t.test('a hop that cannot be read is an unknown client, never a proxy', async t => {
  for (const text of UNREADABLE) {
    t.equal(xForwardedFor(text), 'unknown', text)
    t.equal(xForwardedFor(`1.2.3.4, ${text}, 10.2.2.2`), 'unknown', text)
    t.equal(forwarded(`for=1.2.3.4, for=${text}, for=10.2.2.2`), 'unknown', text)
  }
  t.equal(xForwardedFor(''), 'unknown', 'an empty header')
})

t.test('an element of Forwarded names the client', async t => {
  t.equal(forwarded('for=203.0.113.7'), '203.0.113.7')
  t.equal(forwarded('by=10.1.1.1;For="[2001:db8::7]:443";proto=https, for="10.2.2.2:80"'), '2001:db8::7')
  t.equal(forwarded('for=203.0.113.7;host="a;for=10.0.0.1"'), '203.0.113.7')
  t.equal(forwarded('proto=https'), 'unknown', 'an element that names none')
})

t.test('quotes that a client leaves open do not swallow what a proxy appends', async t => {
  for (const own of ['for=10.9.9.9;a="', 'for="', 'for=10.9.9.9;a="\\'])
    t.equal(forwarded(`${own}, for=203.0.113.7;proto=https`), '203.0.113.7', own)
})

t.test('only one of the two headers is read, since proxies pass the other one on', async t => {
  const both = { 'x-forwarded-for': '203.0.113.7', forwarded: 'for=192.0.2.1' }
  t.equal(clientOf(both), '203.0.113.7')
  t.equal(clientOf(both, '10.1.1.1', 'forwarded'), '192.0.2.1')
  t.equal(clientOf({ forwarded: 'for=192.0.2.1' }), 'unknown', 'the proxy sets the other one')
  t.equal(clientOf({ 'x-forwarded-for': '203.0.113.7' }, '10.1.1.1', 'forwarded'), 'unknown')
})
