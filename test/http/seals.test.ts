import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import examples from '../../schemas/api/examples.json' with { type: 'json' }
import type { Seal, SealKeySet } from '../../schemas/api/seal.ts'
import { SEALS_STREAM } from '../../schemas/events.ts'
import type { RawEvent } from '../../schemas/recorded.ts'
import type { LogSealed } from '../../schemas/seal-events.ts'
import { sha256 } from '../../src/domain/digest.ts'
import { canonicalJson } from '../../src/engine/log/hash-chain.ts'
import { sealName } from '../../src/services/seals/seals.ts'
import { collect } from '../support/collect.ts'
import { openLog } from '../support/engine.ts'
import { startEventStoreServer } from '../support/event-store/server.ts'
import { newSealKeyPem } from '../support/seal-key-pem.ts'
import { type Customer, openAccount, type Service, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

const newKey = () => generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

/** The settings of a service that seals at once. */
const AT_ONCE = { SEAL_EVENTS: '1' }

const headerOf = async (customer: Customer, path = '/v1/balance') =>
  (await customer.send(path)).headers.get('Tollgate-Seal')

const sealedHeader = (customer: Customer) => until('a response names a seal', () => headerOf(customer))

const keysOf = async (service: Service) => (await service.client().send<SealKeySet>('/v1/ledger/keys')).body.keys

const isSigned = ({ data: { signature, ...signed } }: Seal, keys: SealKeySet['keys']): boolean => {
  const key = keys.find(({ kid }) => kid === signed.keyId)
  if (!key) return false
  const publicKey = createPublicKey({ key: { kty: key.kty, crv: key.crv, x: key.x }, format: 'jwk' })
  return verify(null, Buffer.from(canonicalJson(signed)), publicKey, Buffer.from(signature, 'base64url'))
}

t.test('a log without seals has no newest seal and no keys', async t => {
  const service = await startService(t)
  const customer = await openAccount(service)
  t.equal(await headerOf(customer), null)
  const { status, body } = await customer.send('/v1/ledger/seal')
  t.match({ status, body }, { status: 404, body: { error: { code: 'not_found', message: /no seal yet/ } } })
  t.same(await keysOf(service), [])
})

t.test('the newest seal is named, shown and signed, and earlier ones are shown by number', async t => {
  const service = await startService(t, { environment: AT_ONCE })
  const customer = await openAccount(service)
  await sealedHeader(customer)
  const { body: newest } = await customer.send<Seal>('/v1/ledger/seal')
  t.match(await sealedHeader(customer), /^\d+:sha256-[0-9a-f]{64}$/)
  const keys = await keysOf(service)
  t.match(keys, [{ kty: 'OKP', crv: 'Ed25519', kid: newest.data.keyId, use: 'sig', development: true }])
  t.ok(isSigned(newest, keys))
  t.equal(examples.seal.name, sealName(examples.seal.data), 'as in the OpenAPI document')

  const [adopted, ...events] = await collect(service.core.log.readStream(SEALS_STREAM, 0))
  t.equal(adopted?.type, 'SealKeyAdopted')
  for (const { revision, data, metadata } of events.slice(0, 3) as (RawEvent & { metadata: { hash: string } })[]) {
    const { body } = await customer.send<Seal>(`/v1/ledger/seal?number=${revision}`)
    const { signature: _, ...signed } = data as LogSealed
    const name = `${revision}:sha256-${sha256(canonicalJson(signed))}`
    t.same(body, { object: 'seal', number: revision, name, link: metadata.hash, data })
  }
  for (const number of [0, 1_000_000, Number.MAX_SAFE_INTEGER]) {
    const { status, body } = await customer.send(`/v1/ledger/seal?number=${number}`)
    t.match({ status, body }, { status: 404, body: { error: { code: 'not_found' } } }, `${number}`)
  }
  for (const number of ['-1', '1.5', 'x', '9007199254740992'])
    t.equal((await customer.send(`/v1/ledger/seal?number=${number}`)).status, 400, number)
})

t.test('responses name a new seal of their own process at once, and read no log for that', async t => {
  const service = await startService(t, { environment: AT_ONCE })
  const customer = await openAccount(service)
  const first = await sealedHeader(customer)
  await openAccount(service)
  const { log } = service.core
  await until('a later seal is named', async () => (await headerOf(customer)) !== first)
  t.match(await headerOf(customer, '/v1/ledger'), /^\d+:sha256-[0-9a-f]{64}$/)
  let reads = 0
  const { readStream } = log
  Object.assign(log, {
    readStream: (stream: string, revision: number) => {
      if (stream === SEALS_STREAM) reads += 1
      return readStream(stream, revision)
    },
  })
  for (let count = 0; count < 50; count++) await sealedHeader(customer)
  t.ok(reads < 25, `${reads} reads`)
})

t.test('the keys need no API key, are cacheable, and include those before a change', async t => {
  const [folder, keys] = [await temporaryFolder(t), await temporaryFolder(t)]
  const previousFile = join(keys, 'previous.pem')
  const [previous, present] = [newKey(), newKey()]
  await writeFile(previousFile, previous)
  const before = await startService(t, { folder, environment: { ...AT_ONCE, SEAL_KEY: previous } })
  await until('the first key is shown', async () => (await keysOf(before)).length === 1)
  await before.stop()
  const change = { ...AT_ONCE, SEAL_KEY: present, SEAL_PREVIOUS_KEY_FILE: previousFile }
  const service = await startService(t, { folder, environment: change })
  const customer = await openAccount(service)
  await until('the next key is shown', async () => (await keysOf(service)).length === 2)
  const sealed = await until('a seal of the next key', async () => {
    const { body } = await customer.send<Seal>('/v1/ledger/seal')
    return body.data.keyId === (await keysOf(service))[1]?.kid && body
  })
  t.ok(isSigned(sealed, (await keysOf(service)).slice(1)))
  t.ok(isSigned((await customer.send<Seal>('/v1/ledger/seal?number=1')).body, (await keysOf(service)).slice(0, 1)))
  const { headers } = await service.client().send('/v1/ledger/keys')
  t.equal(headers.get('Cache-Control'), 'public, max-age=300')
  t.equal(headers.get('Access-Control-Allow-Origin'), '*')
  const known = { headers: { 'If-None-Match': headers.get('ETag') as string } }
  t.equal((await service.client().send('/v1/ledger/keys', known)).status, 304)
})

t.test('on EventStoreDB, a process that does not seal names the seals of another', async t => {
  const server = await startEventStoreServer({ log: await openLog(t) })
  t.teardown(() => server.close())
  const stores = { EVENT_STORE_URL: server.url, OBJECT_STORE_URL: `file:${await temporaryFolder(t)}` }
  const shared = { ...stores, MASTER_SECRET: 'x'.repeat(64), SEAL_KEY: newSealKeyPem(), ...AT_ONCE }
  const service = await startService(t, { environment: { ...shared, ROLES: 'api,projector' } })
  const customer = await openAccount(service)
  t.equal(await headerOf(customer), null)
  await startService(t, { environment: { ...shared, ROLES: 'projector,sealer' } })
  await sealedHeader(customer)
  const { body } = await customer.send<Seal>('/v1/ledger/seal')
  t.ok(isSigned(body, await keysOf(service)))
})

t.test('the example is a seal with its key', async t => {
  t.ok(isSigned(examples.seal as Seal, examples.sealKeys.keys as SealKeySet['keys']))
})
