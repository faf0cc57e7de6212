import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import t from 'tap'
import { sha256 } from '../../../src/domain/digest.ts'
import { canonicalJson, type Linkable, link } from '../../../src/engine/log/hash-chain.ts'
import { digest } from '../../support/account-samples.ts'

t.test('the canonical form is that of RFC 8785', async t => {
  // The example of section 3.2.2, and the order of section 3.2.3: by UTF-16 code units.
  const example = String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`
  t.equal(
    canonicalJson(JSON.parse(example)),
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
      String.raw`"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  )
  const keys = ['\u20ac', '\r', '\ufb33', '1', '\u{1f600}', '\u0080', '\u00f6']
  t.equal(
    canonicalJson(Object.fromEntries(keys.map(key => [key, 0]))),
    '{"\\r":0,"1":0,"\u0080":0,"\u00f6":0,"\u20ac":0,"\u{1f600}":0,"\ufb33":0}',
  )
})

t.test('it is the form that another implementation of RFC 8785 gives', async () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), value => canonicalJson(value) === canonicalize(value)),
    { numRuns: 2000 },
  )
})

t.test('numbers have the form of appendix B', async t => {
  const vectors: [bits: string, text: string][] = [
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ]
  for (const [bits, text] of vectors) t.equal(canonicalJson(Buffer.from(bits, 'hex').readDoubleBE()), text, bits)
})

t.test('equal values have one form, whatever the order of their fields', async t => {
  t.equal(canonicalJson({ b: [1, { d: 1, c: 2 }], a: undefined }), '{"b":[1,{"c":2,"d":1}]}')
  t.equal(canonicalJson(JSON.parse('{"__proto__":1,"a":{}}')), '{"__proto__":1,"a":{}}')
})

t.test('what is no JSON has no form', async t => {
  for (const value of [undefined, Number.NaN, Number.POSITIVE_INFINITY, '\ud800', () => 1])
    t.throws(() => canonicalJson(value))
})

t.test('half a character has no form, and the text that looks like one has', async t => {
  t.throws(() => canonicalJson({ text: '\\\ud800' }))
  t.equal(canonicalJson('\\ud800'), String.raw`"\\ud800"`)
})

t.test('SHA-256 is that of FIPS 180-4, over UTF-8', async t => {
  t.equal(sha256('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  t.equal(sha256('é\u{1f642}'), createHash('sha256').update(Buffer.from('é\u{1f642}', 'utf8')).digest('hex'))
})

const PREVIOUS = digest('1')

const format1: Linkable = {
  stream: 'account-1',
  revision: 3,
  id: 'id-1',
  type: 'RunStarted',
  data: { runId: 'run_1', list: [1, 2] },
  metadata: { at: 'now', actor: 'me' } as object,
}
const format2: Linkable = { ...format1, metadata: { ...format1.metadata, format: 2 } }
const format3: Linkable = { ...format1, metadata: { ...format1.metadata, format: 3 } }
const format4: Linkable = { ...format1, metadata: { ...format1.metadata, format: 4 } }

/** The event with other data. */
const withData = (event: Linkable, data: object): Linkable => ({
  ...event,
  data: { ...(event.data as object), ...data },
})

/** The event with other metadata. */
const withMetadata = (event: Linkable, metadata: object): Linkable => ({
  ...event,
  metadata: { ...event.metadata, ...metadata },
})

t.test('a link of format 1 covers the type, the data and the metadata', async t => {
  const text = '{"data":{"list":[1,2],"runId":"run_1"},"metadata":{"actor":"me","at":"now"},"type":"RunStarted"}'
  t.equal(link(PREVIOUS, format1), sha256(PREVIOUS + text))
  t.equal(link(undefined, format1), sha256('0'.repeat(64) + text))
})

t.test('a link of format 2 covers the place, the type and the digests of data and metadata', async t => {
  const data = sha256('{"list":[1,2],"runId":"run_1"}')
  const metadata = sha256('{"actor":"me","at":"now","format":2}')
  const text =
    `{"data":"${data}","format":2,"id":"id-1","metadata":"${metadata}",` +
    '"revision":3,"stream":"account-1","type":"RunStarted"}'
  t.equal(link(PREVIOUS, format2), sha256(PREVIOUS + text))
  t.equal(link(undefined, format2), sha256(sha256('{"format":2,"stream":"account-1"}') + text))
})

for (const [format, event] of Object.entries({ 3: format3, 4: format4 }))
  t.test(`a link of format ${format} covers a cost by its digest`, async t => {
    const data = sha256('{"list":[1,2],"runId":"run_1"}')
    const metadata = sha256(`{"actor":"me","at":"now","format":${format}}`)
    const text = (digest: string) =>
      `{"data":"${digest}","format":${format},"id":"id-1","metadata":"${metadata}",` +
      '"revision":3,"stream":"account-1","type":"RunStarted"}'
    t.equal(link(PREVIOUS, event), sha256(PREVIOUS + text(data)))
    t.equal(link(undefined, event), sha256(sha256(`{"format":${format},"stream":"account-1"}`) + text(data)))
    const cost = sha256('{"amountMicros":80000,"salt":"0f"}')
    const shown = sha256(`{"cost":"${cost}","list":[1,2],"runId":"run_1"}`)
    const costly = withData(event, { cost: { salt: '0f', amountMicros: 80_000 } })
    t.equal(link(PREVIOUS, costly), sha256(PREVIOUS + text(shown)))
    t.not(link(PREVIOUS, withData(costly, { cost: { salt: '0f', amountMicros: 80_001 } })), link(PREVIOUS, costly))
  })

t.test('a link covers the data as they are stored, with the digest of the cost, and not what they mean', async t => {
  const stored = { runId: 'run_1', list: [1, 2], cost: { salt: '0f' }, personal: 'AAAA' }
  const event = { ...format4, data: { ...stored, personal: undefined, output: 'a secret' }, stored }
  t.equal(link(PREVIOUS, event), link(PREVIOUS, { ...format4, data: stored }))
  t.equal(link(PREVIOUS, { ...event, data: { output: 'another secret' } }), link(PREVIOUS, event))
  t.not(link(PREVIOUS, { ...event, stored: { ...stored, personal: 'AAAB' } }), link(PREVIOUS, event))
})

t.test('the text of format 2 is canonical, whatever the name of the stream', async t => {
  const event = { ...format2, stream: 'account-"é\u{1f642}\n', id: '"', type: '\\' }
  const { stream, revision, id, type } = event
  const data = sha256(canonicalize(event.data) as string)
  const metadata = sha256(canonicalize(event.metadata) as string)
  const text = canonicalize({ format: 2, stream, revision, id, type, data, metadata })
  t.equal(link(PREVIOUS, event), sha256(PREVIOUS + text))
  t.equal(link(undefined, event), sha256(sha256(canonicalize({ format: 2, stream }) as string) + text))
})

for (const [format, event] of Object.entries({ 1: format1, 2: format2, 3: format3, 4: format4 })) {
  t.test(`format ${format}: the hash itself and the order of the fields are not covered`, async t => {
    const reordered = Object.fromEntries(Object.entries(event.metadata).reverse())
    t.equal(link(PREVIOUS, withMetadata(event, { hash: digest('a') })), link(PREVIOUS, event))
    t.equal(link(PREVIOUS, { ...event, metadata: reordered }), link(PREVIOUS, event))
    t.equal(link(PREVIOUS, { ...event, data: { list: [1, 2], runId: 'run_1' } }), link(PREVIOUS, event))
  })

  t.test(`format ${format}: any other change gives another link`, async t => {
    const others = [
      link(undefined, event),
      link(digest('2'), event),
      link(PREVIOUS, { ...event, type: 'RunFailed' }),
      link(PREVIOUS, withData(event, { runId: 'run_2' })),
      link(PREVIOUS, withData(event, { list: [2, 1] })),
      link(PREVIOUS, withData(event, { more: null })),
      link(PREVIOUS, withMetadata(event, { at: 'later' })),
      link(PREVIOUS, withMetadata(event, { clock: 'earlier' })),
      link(PREVIOUS, withMetadata(event, { requestId: 'r' })),
    ]
    t.equal(new Set([link(PREVIOUS, event), ...others]).size, others.length + 1)
  })
}

t.test('format 1 does not cover the stream, the revision and the id', async t => {
  for (const change of [{ stream: 'account-2' }, { revision: 4 }, { id: 'id-2' }]) {
    t.equal(link(PREVIOUS, { ...format1, ...change }), link(PREVIOUS, format1))
    for (const later of [format2, format3, format4])
      t.not(link(PREVIOUS, { ...later, ...change }), link(PREVIOUS, later))
  }
})

t.test('an event without a format is of format 1, and a later format is refused', async t => {
  t.not(
    link(PREVIOUS, withMetadata(format1, { format: 1 })),
    link(PREVIOUS, format1),
    'a format that is written is covered',
  )
  for (const format of [0, 5])
    t.throws(() => link(PREVIOUS, withMetadata(format2, { format })), {
      name: 'RangeError',
      message: `ledger format ${format} is unknown to this version`,
    })
})
