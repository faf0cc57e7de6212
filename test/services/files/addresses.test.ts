import t from 'tap'
import { Addresses, isUploadKey } from '../../../src/services/files/addresses.ts'

const NAME = '0123456789abcdef'.repeat(2)
const KEY = `uploads/${NAME}.png`
const PUBLIC = 'http://localhost:8080'
const CDN = 'https://files.example.com/bucket'

const own = new Addresses(() => PUBLIC)
const behindCdn = new Addresses(() => PUBLIC, CDN)

t.test('the address of a key uses the CDN URL where one is configured', async t => {
  t.equal(own.urlOf(KEY), `${PUBLIC}/cdn/${KEY}`)
  t.equal(behindCdn.urlOf(KEY), `${CDN}/${KEY}`)
  t.equal(behindCdn.ownUrl, `${PUBLIC}/cdn`)
})

t.test('every spelling of an address maps back to its key', async t => {
  for (const address of [
    `${PUBLIC}/cdn/${KEY}`,
    `HTTP://LOCALHOST:8080/cdn/${KEY}`,
    `http://user:word@localhost:8080/cdn/${KEY}`,
    `${PUBLIC}/cdn/${KEY}?a=1#b`,
    `${PUBLIC}/x/../cdn/./${KEY}`,
    `${PUBLIC}/x/%2e%2e/cdn/${KEY}`,
    `${PUBLIC}\\cdn\\${KEY.replace('/', '\\')}`,
    ` ${PUBLIC}/cdn/${KEY}\n`,
  ])
    t.equal(own.keyOf(address), KEY, address)
  t.equal(new Addresses(() => 'https://example.com').keyOf(`https://EXAMPLE.com:443/cdn/${KEY}`), KEY)
})

t.test('with a CDN both addresses map to the key', async t => {
  for (const address of [`${CDN}/${KEY}`, `${PUBLIC}/cdn/${KEY}`]) t.equal(behindCdn.keyOf(address), KEY)
  t.equal(own.keyOf(`${CDN}/${KEY}`), undefined)
  t.equal(new Addresses(() => PUBLIC, 'https://files.example.com').keyOf(`https://files.example.com/${KEY}`), KEY)
})

t.test('an own address without a valid key is still an own address', async t => {
  for (const path of ['', KEY.replace('/', '%2f'), `%75ploads/${NAME}.png`, `/${KEY}`, `a/b/${KEY}`, '%']) {
    const key = own.keyOf(`${PUBLIC}/cdn/${path}`)
    t.equal(key, path)
    t.notOk(key === undefined || isUploadKey(key))
  }
})

t.test('any other address maps to no key', async t => {
  for (const address of [
    '',
    KEY,
    `/cdn/${KEY}`,
    `data:image/png,/cdn/${KEY}`,
    `https://localhost:8080/cdn/${KEY}`,
    `http://localhost:8081/cdn/${KEY}`,
    `http://localhost.example.com:8080/cdn/${KEY}`,
    `http://localhost:8080@example.com/cdn/${KEY}`,
    `${PUBLIC}/${KEY}`,
    `${PUBLIC}/cdnx/${KEY}`,
    `${PUBLIC}/CDN/${KEY}`,
    `${PUBLIC}/%63dn/${KEY}`,
    `${PUBLIC}/cdn`,
    `https://files.example.com/buckets/${KEY}`,
    `https://files.example.com/${KEY}`,
  ])
    t.equal(behindCdn.keyOf(address), undefined, address)
})

t.test('the public URL is read at each use', async t => {
  let port = 1
  const addresses = new Addresses(() => `http://localhost:${port}`)
  port = 2
  t.equal(addresses.urlOf(KEY), `http://localhost:2/cdn/${KEY}`)
  t.equal(addresses.keyOf(`http://localhost:2/cdn/${KEY}`), KEY)
})

t.test('the key of an upload names an object in the uploads folder', async t => {
  t.ok(isUploadKey(KEY))
  for (const key of [
    `outputs/${NAME}.png`,
    `uploads/${NAME}`,
    `uploads/../${KEY}`,
    `uploadsx/${NAME}.png`,
    `${KEY}/`,
    '',
  ])
    t.notOk(isUploadKey(key), key)
})
