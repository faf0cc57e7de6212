import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { AccountEvent, Idempotency, RunQueued, UploadGranted } from '../../../schemas/account-events.ts'
import { accountStream } from '../../../schemas/events.ts'
import { PRIVATE, PRIVATE_URL, personalFields } from '../../../schemas/personal.ts'
import type { AnyEvent, RawEvent } from '../../../schemas/recorded.ts'
import { systemRandom } from '../../../src/adapters/random/system.ts'
import { type EventLog, NO_STREAM } from '../../../src/ports/event-log.ts'
import { Damaged, Unavailable } from '../../../src/ports/faults.ts'
import type { ObjectStore } from '../../../src/ports/object-store.ts'
import { AccountMailboxes } from '../../../src/services/accounts/account-mailboxes.ts'
import { eventCodec } from '../../../src/services/event-codec.ts'
import { decryptedLog } from '../../../src/services/vault/decrypted-log.ts'
import { encryptionWith } from '../../../src/services/vault/personal-data.ts'
import { Vault } from '../../../src/services/vault/vault.ts'
import { openFolder } from '../../adapters/object-store/disk.ts'
import {
  accountId,
  digest,
  grantCredits,
  openAccount,
  receipt,
  runId,
  uploadId,
} from '../../support/account-samples.ts'
import { collect } from '../../support/collect.ts'
import { ambient, noSnapshots, openLog } from '../../support/engine.ts'
import { checkChains } from '../../support/links.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const ada = accountId()
const STREAM = accountStream(ada)
const metadata = { format: 4, at: '2026-11-28T00:00:00.000Z', actor: { kind: 'service' }, hash: digest('a') }

type Objects = Pick<ObjectStore, 'put' | 'get' | 'overwrite'>

const vaultOn = (objects: Objects) =>
  new Vault({
    objects: async () => objects,
    close: async () => undefined,
    masterSecret: 'a secret',
    random: systemRandom,
  })

/** A log, and accounts that write to it as another process does. */
const open = async (t: Test) => {
  const folder = await temporaryFolder(t)
  const raw = await openLog(t, folder)
  const { store, folder: objects } = await openFolder(t)
  const process = (vault = vaultOn(store)) => {
    const log = decryptedLog(raw, vault)
    const encryption = encryptionWith(vault)
    return { vault, log, encryption, accounts: accountsOn(log, encryption) }
  }
  const bytes = () => readFile(join(folder, 'data.mdb'))
  return { raw, store, objects, process, bytes }
}

const accountsOn = (log: EventLog, encryption: ReturnType<typeof encryptionWith>) =>
  new AccountMailboxes({ log, snapshots: noSnapshots, encryption, ...ambient() })

const caller = { kind: 'service' } as const

const request: RunQueued = {
  idempotency: { key: 'once', requestHash: digest('c') },
  runId: runId(),
  ...{ model: 'nano-banana-2', endpoint: 'nano-banana-2-t2i', mode: 'sync', timeoutMs: 1000 },
  input: { prompt: 'SECRET prompt', SECRET: [{ deep: 'SECRET' }], seed: 7 },
  metadata: { 'SECRET name': 1 },
  webhookUrl: 'https://example.com/?token=SECRET',
  livemode: false,
  receipt: receipt(),
}
const url = 'https://SECRET.example/'
const artifact = { objectKey: 'outputs/a.png', mimeType: 'image/png', sizeBytes: 1, sha256: digest('b') }
const call = { id: 'SECRET', type: 'function', function: { name: 'SECRET', arguments: '{"SECRET":1}' } } as const
const notices = { email: true, url, balanceUnderMicros: 5 }
const upstream = { provider: 'sandbox', model: 'sandbox' }
const notice = { kind: 'balance_low', balanceMicros: 1, underMicros: 5 } as const
const upload: Omit<UploadGranted, 'filename'> = {
  method: 'presigned',
  ...{ uploadId: uploadId(), objectKey: 'uploads/a.png', mimeType: 'image/png', maxSizeBytes: 9 },
  ...{ expiresAt: metadata.at, willDeleteAt: metadata.at },
} as const

/** Events with all fields that may hold personal data, in all of which `SECRET` stands. */
const samples: AccountEvent[] = [
  { type: 'AccountOpened', data: { accountId: ada, email: 'SECRET@example.com', tester: false, notices } },
  {
    type: 'AccountOpened',
    data: { accountId: ada, identity: { kind: 'telegram', subject: 'SECRET1', name: 'SECRET 2' }, tester: false },
  },
  { type: 'IdentityLinked', data: { identity: { kind: 'email', address: 'SECRET@example.com' } } },
  { type: 'IdentityLinked', data: { identity: { kind: 'telegram', subject: 'SECRET1', name: 'SECRET 2' } } },
  {
    type: 'SessionOpened',
    data: { sessionId: 'sess_00000000000000000000000001', expiresAt: metadata.at, place: 'SECRET'.padEnd(40, '_') },
  },
  { type: 'RunQueued', data: request },
  { type: 'RunStarted', data: { ...request, upstream } },
  {
    type: 'RunCompleted',
    data: {
      runId: runId(),
      output: { artifacts: [artifact], text: 'SECRET', toolCalls: [call], willDeleteAt: metadata.at },
    },
  },
  { type: 'WebhookRedeliveryRequested', data: { runId: runId(), url } },
  { type: 'WebhookTestRequested', data: { testId: 'wht_00000000000000000000000001', url } },
  { type: 'NoticesSet', data: notices },
  { type: 'NoticeRaised', data: { number: 1, notice, to: { email: true, url } } },
  {
    type: 'PurchasePaid',
    data: {
      ...{ purchaseId: `pur_${'0'.repeat(26)}`, paymentId: 'pi_1', amount: '50.00', currency: 'EUR' },
      address: { line1: 'SECRET' },
    },
  },
  { type: 'UploadGranted', data: { ...upload, filename: 'SECRET.png', folderPath: 'SECRET/2026' } },
]

/** Events of the same types without personal data. */
const plain: AccountEvent[] = [
  { type: 'RunStarted', data: { runId: runId(), upstream } },
  { type: 'RunCompleted', data: { runId: runId(), output: { artifacts: [artifact] } } },
  { type: 'NoticesSet', data: { email: true, balanceUnderMicros: 5 } },
  { type: 'NoticeRaised', data: { number: 1, notice, to: { email: true } } },
]

/** Appends events in one append, encrypted. */
const write = async (raw: EventLog, encrypt: ReturnType<typeof encryptionWith>['encrypt'], events: AnyEvent[]) => {
  const entries = events.map(({ type, data }) => {
    const id = crypto.randomUUID()
    return { id, type, data: encrypt({ id, stream: STREAM, type, data }), metadata }
  })
  await raw.append(STREAM, entries, NO_STREAM)
}

const readAll = (log: Pick<EventLog, 'readStream'>): Promise<RawEvent[]> => collect(log.readStream(STREAM, 0))

t.test('the samples have all personal fields of all event types', async t => {
  for (const [type, fields] of Object.entries(personalFields))
    for (const field of Object.keys(fields)) {
      const found = samples.filter(sample => sample.type === type && field in sample.data)
      t.ok(found.length > 0, `${type}.${field}`)
    }
  for (const { type, data } of samples) {
    const clear = Object.entries(data).filter(([field]) => !(field in (personalFields[type] ?? {})))
    t.notMatch(JSON.stringify(clear), /SECRET/, `${type} has secrets only there`)
  }
})

t.test('no personal data stand in the bytes of the log, and all are read back', async t => {
  const { raw, process, bytes } = await open(t)
  const { vault, log, encryption } = process()
  await vault.create(ada)
  await write(raw, encryption.encrypt, samples)
  const written = await bytes()
  t.ok(written.includes('RunCompleted'))
  t.notOk(written.includes('SECRET'))
  t.notOk(written.includes(Buffer.from('SECRET').toString('base64').slice(0, 6)))
  const expected = samples.map(({ type, data }) => ({ type, data }))
  for (const reader of [log, process().log]) {
    const read = await readAll(reader)
    t.same(
      read.map(({ type, data }) => ({ type, data })),
      expected,
    )
    for (const event of read) t.same(eventCodec.decode(event).data, event.data)
  }
  const one = await log.readEvent(STREAM, 5)
  t.same(one?.data, request)
  t.same(await collect(log.readAll(-1)), await readAll(log))
})

t.test('a reader without keys gets valid events, with other values in the places of the personal ones', async t => {
  const { raw, process } = await open(t)
  const { vault, encryption } = process()
  await vault.create(ada)
  await write(raw, encryption.encrypt, samples)
  const read = (await readAll(raw)).map(event => eventCodec.decode(event))
  t.equal(read.length, samples.length)
  for (const event of read) t.notMatch(JSON.stringify(event.data), /SECRET|personal/, event.type)
  const dataOf = (index: number) => read[index]?.data
  t.match(dataOf(0), { accountId: ada, email: PRIVATE, notices: { email: true, url: PRIVATE_URL } })
  t.same(dataOf(1), { accountId: ada, identity: { kind: 'telegram', subject: PRIVATE }, tester: false })
  const { key } = request.idempotency as Idempotency
  const idempotency = { key, requestHash: digest('0') }
  t.match(dataOf(5), { ...request, input: {}, metadata: undefined, webhookUrl: PRIVATE_URL, idempotency })
  t.same(dataOf(7), { runId: runId(), output: { artifacts: [artifact], willDeleteAt: metadata.at } })
  t.same(dataOf(13), { ...upload, filename: PRIVATE })
})

t.test('an event without personal data is stored as it is', async t => {
  const { process } = await open(t)
  const { encryption } = process()
  for (const { type, data } of plain) t.equal(encryption.encrypt({ id: 'id', stream: STREAM, type, data }), data)
  const debit = { type: 'CreditsDebited', data: { amountMicros: 1 } }
  t.equal(encryption.encrypt({ id: 'id', stream: STREAM, ...debit }), debit.data)
})

t.test('once the key is destroyed, what is left is what a reader without keys gets', async t => {
  const { raw, process } = await open(t)
  const { vault, encryption } = process()
  await vault.create(ada)
  await write(raw, encryption.encrypt, samples)
  await process().vault.destroy(ada)
  const left = (await readAll(process().log)).map(event => eventCodec.decode(event))
  const shown = (await readAll(raw)).map(event => eventCodec.decode(event))
  t.same(
    left.map(({ type, data }) => ({ type, data })),
    shown.map(({ type, data }) => ({ type, data })),
  )
})

t.test('data that their key does not decrypt are damage, at the place of the event', async t => {
  const { raw, process, objects } = await open(t)
  const { vault, encryption } = process()
  await vault.create(ada)
  const [opened, , linked] = samples as [AccountEvent, AccountEvent, AccountEvent]
  const [id, other] = [crypto.randomUUID(), crypto.randomUUID()]
  const data = encryption.encrypt({ id, stream: STREAM, ...opened })
  const moved = encryption.encrypt({ id: other, stream: STREAM, ...linked })
  const entries = [
    { id, type: opened.type, data, metadata },
    { id: crypto.randomUUID(), type: linked.type, data: moved, metadata },
  ]
  await raw.append(STREAM, entries, NO_STREAM)
  const message = `${STREAM} holds at revision 1 data that its key does not decrypt`
  t.match(await process().log.readEvent(STREAM, 0), { data: opened.data })
  await t.rejects(readAll(process().log), { name: 'Damaged', message }, 'the ciphertext of another event')
  await rm(join(objects, 'vault'), { recursive: true })
  await t.rejects(process().log.readEvent(STREAM, 0), { name: 'Damaged', message: /the key of acct_\w+ is missing/ })
})

t.test('the link covers the ciphertext, and chains hold with and without the key', async t => {
  const { raw, process } = await open(t)
  const { accounts, log } = process()
  await accounts.execute(caller, ada, openAccount())
  await accounts.execute(caller, ada, grantCredits(1))
  const chains = [raw, log].map(async each => checkChains(await readAll(each)))
  for (const chain of await Promise.all(chains)) t.match(chain[STREAM], { events: 3, formats: '444' })
  const [opened, ...others] = (await readAll(raw)) as [RawEvent, ...RawEvent[]]
  const { personal } = opened.data as { personal: string }
  const other = `${personal.startsWith('A') ? 'B' : 'A'}${personal.slice(1)}`
  const changed = { ...opened, data: { ...(opened.data as object), personal: other } }
  t.throws(() => checkChains([changed, ...others]), { message: `${STREAM} is damaged at 0` })
})

t.test('processes that open accounts and write to them at once share one key', async t => {
  const { process } = await open(t)
  const [one, other] = [process(), process()]
  await Promise.all([one.vault.create(ada), other.vault.create(ada)])
  await one.accounts.execute(caller, ada, openAccount())
  await Promise.all([one, other].map(({ accounts }) => accounts.execute(caller, ada, grantCredits(1))))
  for (const { log } of [one, other, process()])
    t.match((await readAll(log))[0], { data: { email: 'owner@example.com' } })
})

t.test('while the object store is down, nothing is written, and afterwards it is', async t => {
  const { raw, store, process } = await open(t)
  let isDown = true
  const down = async () => {
    throw new Unavailable('the object store is down', { part: 'objects' })
  }
  const failing: Objects = {
    put: (...args) => (isDown ? down() : store.put(...args)),
    get: (...args) => (isDown ? down() : store.get(...args)),
    overwrite: (...args) => (isDown ? down() : store.overwrite(...args)),
  }
  const { accounts } = process(vaultOn(failing))
  await t.rejects(accounts.execute(caller, ada, openAccount()), { name: 'Unavailable', part: 'objects' })
  t.same(await readAll(raw), [])
  isDown = false
  await accounts.execute(caller, ada, openAccount())
  const other = process(vaultOn(failing)).accounts
  isDown = true
  await t.rejects(other.execute(caller, ada, grantCredits(1)), { name: 'Unavailable', part: 'objects' })
  t.equal((await readAll(raw)).length, 2)
})

t.test('a lost key is not replaced by another, which would hide the loss', async t => {
  const { raw, process, objects } = await open(t)
  await process().accounts.execute(caller, ada, openAccount())
  const { vault, log, encryption } = process()
  const accounts = accountsOn({ ...log, readStream: raw.readStream.bind(raw) }, encryption)
  await rm(join(objects, 'vault'), { recursive: true })
  await t.rejects(accounts.execute(caller, ada, grantCredits(1)), Damaged)
  t.equal(vault.known(ada), undefined)
})
