import { generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { isSigned } from '#verify'
import { checkers, needsPython, python } from '../support/checkers.ts'
import { forgedProofs, forgedText, vectorKey, vectorProofs } from '../support/proof-vectors.ts'
import { recorded } from '../support/recorded.ts'
import { isLong } from '../support/test-length.ts'

const proofs = await vectorProofs()
const forgeries = { ...(await forgedProofs()), 'forged-text': await forgedText() }
const keys = JSON.stringify({ keys: [vectorKey.publicKey] })
const textOf = (proof: unknown) => Buffer.from(JSON.stringify(proof))

t.test('the examples are the proofs of the log on the page', async t => {
  for (const [name, proof] of Object.entries({ ...proofs, ...forgeries })) {
    const example = await readFile(`docs/verify/examples/${name}.json`, 'utf8')
    t.same(JSON.parse(example), JSON.parse(JSON.stringify(proof)), name)
  }
  recorded(t, 'inclusionProof', proofs['inclusion'])
  recorded(t, 'consistencyProof', proofs['consistency'])
  t.match(JSON.parse(await readFile('docs/verify/examples/keys.json', 'utf8')), { keys: [vectorKey.publicKey] })
  t.equal(vectorKey.publicKey.x, '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', 'the key of RFC 8037, appendix A.2')
})

t.test('each checker finds each example right, and knows no other key', needsPython, async t => {
  const other = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString()
  for (const [name, check] of Object.entries(checkers)) {
    t.same([...new Set(await check(Object.values(proofs).map(textOf), keys))], ['right'], name)
    for (const outcome of await check(Object.values(proofs).map(textOf), other))
      t.match(outcome, /^seal \d is signed with the key \S+, which was not given$/, name)
  }
})

/** Each proof is flipped in every so many bits, in another place of each byte in turn. */
const STEP = isLong ? 23 : 101

/** So many proofs are checked at a time that they fit in memory. */
const BATCH = 2000

t.test('with any bit flipped, each checker refuses each proof, for the same reason', needsPython, async t => {
  for (const [name, proof] of Object.entries(proofs)) {
    const text = textOf(proof)
    const bits = Array.from({ length: Math.ceil((text.length * 8) / STEP) }, (_, index) => index * STEP)
    for (let from = 0; from < bits.length; from += BATCH) {
      const flipped = bits.slice(from, from + BATCH).map(bit => flippedAt(text, bit))
      const [first, ...others] = await Promise.all(Object.values(checkers).map(check => check(flipped, keys)))
      t.equal(first?.length, flipped.length)
      t.equal(first?.indexOf('right'), -1, name)
      for (const other of others) t.same(differences(first ?? [], other), [], name)
    }
  }
})

t.test('each checker accepts the signatures that Node.js accepts, and no others', needsPython, async t => {
  const samples: { key: string; text: string; signature: string; isRight: boolean }[] = []
  for (let index = 0; index < 20; index++) {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const text = `text ${index}`
    const signature = sign(null, Buffer.from(text), privateKey)
    const x = publicKey.export({ format: 'jwk' }).x as string
    const variants = [
      signature,
      withOrderAdded(signature),
      signature.subarray(0, 63),
      Buffer.concat([signature, Buffer.alloc(1)]),
      flippedAt(signature, index * 25),
      sign(null, Buffer.from('another text'), privateKey),
    ]
    for (const variant of variants)
      samples.push({
        key: x,
        text,
        signature: variant.toString('base64url'),
        isRight: isRight(publicKey, text, variant),
      })
  }
  t.equal(samples.filter(({ isRight }) => isRight).length, 20)
  // The last character has four bits that stand for nothing, so that another one gives the same bytes.
  const [{ signature: written = '', ...sample } = {}] = samples
  const otherwise = { A: 'B', Q: 'R', g: 'h', w: 'x' }[written.at(-1) as string] as string
  samples.push({ ...(sample as (typeof samples)[0]), signature: written.slice(0, -1) + otherwise, isRight: false })
  for (const key of smallOrder)
    samples.push({ key, text: 'any', signature: forged.toString('base64url'), isRight: false })

  const expected = samples.map(({ isRight }) => isRight)
  const checked = samples.map(({ text, signature, key }) => isSigned(text, signature, key))
  t.same(checked, expected)
  const lines = `found = [verify.ed25519_verify(verify.from_base64url(each["key"]), each["text"].encode(),
    verify.from_base64url(each["signature"]) or b"") for each in given["samples"]]`
  t.same(await python(lines, { samples }), expected)
})

/** Where two lists of outcomes differ; the first of them are enough to see why. */
const differences = (one: string[], other: string[]) =>
  one.flatMap((outcome, index) => (outcome === other[index] ? [] : [[outcome, other[index]]])).slice(0, 5)

/** The points whose order divides 8, in base64url: the identity first. */
const smallOrder = [
  '0100000000000000000000000000000000000000000000000000000000000000',
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0000000000000000000000000000000000000000000000000000000000000080',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  // Other ways to write the same points, which RFC 8032 does not allow.
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
].map(hex => Buffer.from(hex, 'hex').toString('base64url'))

/** With the identity as the key, the hash has no effect: R is S times the base point, here with S = 0. */
const forged = Buffer.concat([Buffer.from(smallOrder[0] as string, 'base64url'), Buffer.alloc(32)])

function flippedAt(bytes: Buffer, bit: number): Buffer {
  const flipped = Buffer.from(bytes)
  flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return flipped
}

/** The same signature with S + L instead of S, which would verify if S were not checked. */
function withOrderAdded(signature: Buffer): Buffer {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n
  const s = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) + order
  return Buffer.concat([signature.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse()])
}

function isRight(key: KeyObject, text: string, signature: Buffer): boolean {
  return verify(null, Buffer.from(text), key, signature)
}
