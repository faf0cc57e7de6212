import { appendFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Run } from '../../schemas/api/run.ts'
import type { Seal } from '../../schemas/api/seal.ts'
import { openLmdbEventLog } from '../../src/adapters/event-log/lmdb.ts'
import { sha256 } from '../../src/domain/digest.ts'
import { fullDisk, needsFullDisk } from '../adapters/object-store/full-disk.ts'
import { type Client, picture } from '../support/client.ts'
import { startEventStoreServer } from '../support/event-store/server.ts'
import { filePart, upload } from '../support/multipart.ts'
import { operatorOf } from '../support/operator.ts'
import { picture as sample } from '../support/sample-files.ts'
import { openAccount, openAccounts, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

interface Printed {
  position: number
  files: number
  copied: number
  events: number
  faults: number
}

const source = await temporaryFolder(t)
const environment = { SEAL_EVENTS: '1' }
const service = await startService(t, { folder: source, environment })
const customer = await openAccount(service, { credits: 1000 })
const backups = await temporaryFolder(t)
const operator = operatorOf(source)
const place = (name: string) => join(backups, name)
const backUp = (t: Test, name: string, ...options: string[]) =>
  operator.json<Printed>(t, 'backup', place(name), ...options)

const runs: Run[] = []
let full: Printed

t.test('a running service is backed up, then what is new', async t => {
  const run = async () => runs.push((await customer.run(picture)).body)
  await run()
  full = await backUp(t, 'full')
  t.match(full, { since: null, files: 2, secrets: 'master-secret, seal-key.pem', faults: 0 })
  await run()
  const increment = await backUp(t, 'increment', '--since', place('full'))
  t.match(increment, { since: full.position, events: increment.position - full.position, faults: 0 })
  await run()
  await backUp(t, 'second', '--since', place('increment'))
})

const chain = ['full', 'increment', 'second'].map(place)

t.test('a restored service has the runs, the files and the key of the backup', async t => {
  const folder = join(await temporaryFolder(t), 'restored')
  const restored = await operatorOf(folder).json<Printed>(t, 'restore', ...chain)
  t.equal(restored.position, await positionOf('second'))
  const elsewhere = customer.at((await startService(t, { folder, environment })).url)
  await elsewhere.run(picture)
  await until('the log is sealed with the same key', async () => {
    const [before, after] = await Promise.all([sealOf(customer), sealOf(elsewhere)])
    return after.number > before.number && after.data.keyId === before.data.keyId
  })
  t.equal(await elsewhere.balance(), (await customer.balance()) - 10)
  for (const { run_id: id, output } of runs) {
    const restored = (await elsewhere.send(`/v1/runs/${id}`)).body.output
    t.same(await bytesAt(restored?.urls?.[0]), await bytesAt(output?.urls?.[0]))
  }
})

t.test('a restore erases the accounts that were erased after its backup', async t => {
  const { accountId } = await openAccount(service)
  const email = (await operator.json<{ email: string }>(t, 'accounts', 'show', accountId)).email
  await backUp(t, 'before')
  const list = join(backups, 'erasures.txt')
  t.notOk((await readFile(list, 'utf8').catch(() => '')).includes(accountId))
  await operator.run('accounts', 'erase', accountId, '--reason', 'asked', '--backups', backups)
  t.ok((await readFile(list, 'utf8')).includes(accountId))
  await until('the account is erased', async () => {
    const { erasure } = await service.core.accounts.currentState(accountId)
    return erasure === 'completed'
  })

  const folder = join(await temporaryFolder(t), 'restored')
  t.match(await operatorOf(folder).json(t, 'restore', place('before')), { erased: 1 })
  const restored = await startService(t, { folder, environment })
  t.match(await operatorOf(folder).json(t, 'accounts', 'show', accountId), { email: 'erased' })
  await until('the erasure is completed there too', async () => {
    const { erasure, identities } = await restored.core.accounts.currentState(accountId)
    return erasure === 'completed' && identities.length === 0
  })
  t.equal((await operatorOf(folder).run('accounts', 'open', '--email', email)).code, 0, 'the address is free')
  await backUp(t, 'after')
  t.equal((await readFile(list, 'utf8')).split(accountId).length, 2, 'a backup lists it too, once')
})

t.test('a backup holds the key of each account, without which its personal data are lost', async t => {
  const keys = (folder: string) => readdir(join(folder, 'objects', 'vault'))
  t.equal((await keys(place('full'))).length, 1)
  t.ok((await keys(source)).includes((await keys(place('full')))[0] as string))
  const restored = async (folder: string) => {
    await operatorOf(folder).json<Printed>(t, 'restore', place('full'))
    return operatorOf(folder)
  }
  const whole = await restored(join(await temporaryFolder(t), 'restored'))
  t.match(await whole.json(t, 'accounts', 'show', customer.accountId), { email: /@example\.com$/ })
  const folder = join(await temporaryFolder(t), 'restored')
  const bare = await restored(folder)
  await rm(join(folder, 'objects', 'vault'), { recursive: true })
  t.match(await bare.refused(t, 'accounts', 'show', customer.accountId), /is missing from vault\/ in the object store/)
})

t.test('a backup without secrets needs them from elsewhere', async t => {
  await operator.run('backup', place('bare'), '--without-secrets')
  t.same((await readdir(place('bare'))).sort(), ['SHA256SUMS', 'backup.json', 'log', 'objects', 'seal.json'])
  const folder = join(await temporaryFolder(t), 'restored')
  const restored = operatorOf(folder)
  const { code, stderr } = await restored.run('restore', place('bare'))
  t.equal(code, 0)
  t.match(stderr, `put those of the log into ${join(folder, 'master-secret')} and ${join(folder, 'seal-key.pem')}.`)
  t.match(await restored.refused(t, 'accounts', 'list'), 'master-secret is missing, although the log has events.')
  const { stdout } = await restored.run('doctor', '--json')
  const secrets = JSON.parse(stdout).filter(({ check }: { check: string }) => check === 'secrets')
  t.match(secrets, [
    { state: 'fault', text: /master-secret is missing/ },
    { state: 'fault', text: /seal-key\.pem is missing, and the log is sealed with it/ },
  ])
  t.notOk((await readdir(folder)).includes('master-secret'))
})

t.test('an interrupted restore is no log, and is repeated', async t => {
  const folder = join(await temporaryFolder(t), 'restored')
  await mkdir(join(folder, 'log.restoring'), { recursive: true })
  await cp(join(place('full'), 'objects'), join(folder, 'objects'), { recursive: true })
  t.match(await operatorOf(folder).refused(t, 'accounts', 'list'), 'holds no event log')
  const restored = await operatorOf(folder).json<Printed>(t, 'restore', ...chain)
  t.equal(restored.position, await positionOf('second'))
})

t.test('an interrupted restore is not repeated over a log that was begun since', async t => {
  const folder = join(await temporaryFolder(t), 'restored')
  await mkdir(join(folder, 'log.restoring'), { recursive: true })
  await openAccounts(folder)
  const secret = await readFile(join(folder, 'master-secret'), 'utf8')
  t.match(await operatorOf(folder).refused(t, 'restore', ...chain), 'is not empty')
  t.equal(await readFile(join(folder, 'master-secret'), 'utf8'), secret)
})

t.test('a file that was deleted between two backups does not come back', async t => {
  const { body: stored } = await upload(customer, filePart(await sample('png')))
  await backUp(t, 'with upload')
  await customer.send(`/v1/uploads/${stored.id}`, { method: 'DELETE' })
  await until('the file is deleted', async () => (await readdir(join(source, 'objects/uploads'))).length === 0)
  await backUp(t, 'without upload', '--since', place('with upload'))
  for (const [names, files] of [
    [['with upload'], 1],
    [['with upload', 'without upload'], 0],
  ] as const) {
    const folder = join(await temporaryFolder(t), 'restored')
    await operatorOf(folder).json(t, 'restore', ...names.map(place))
    t.equal((await readdir(join(folder, 'objects/uploads')).catch(() => [])).length, files)
    t.equal((await readdir(join(folder, 'objects/outputs'))).length, 3)
  }
})

t.test('a restore writes no file outside its folders', async t => {
  const changed = join(await temporaryFolder(t), 'changed')
  await cp(place('full'), changed, { recursive: true })
  await writeFile(join(changed, 'other'), '')
  await appendFile(join(changed, 'SHA256SUMS'), `${sha256('')}  objects/../other\n`)
  const folder = join(await temporaryFolder(t), 'restored')
  await operatorOf(folder).json(t, 'restore', changed)
  t.same((await readdir(folder)).sort(), ['log', 'master-secret', 'objects', 'seal-key.pem'])
})

t.test('a restore overwrites nothing, and takes no part of a backup for a whole one', async t => {
  t.match(await operator.refused(t, 'restore', ...chain), 'is not empty')
  const restore = operatorOf(join(await temporaryFolder(t), 'restored'))
  t.match(
    await restore.refused(t, 'restore', place('increment')),
    `ends at position ${full.position}. Name that one before`,
  )
  t.match(
    await restore.refused(t, 'restore', place('full'), place('second')),
    `but ${place('full')} ends at ${full.position}`,
  )
  t.match(await restore.refused(t, 'restore', place('full'), place('full')), 'is a full backup')
  t.match(await restore.refused(t, 'restore', place('none')), 'no complete backup')
  for (const [path, change] of [
    ['log/data.mdb', (path: string) => appendFile(path, '!')],
    ['backup.json', rm],
    ['master-secret', (path: string) => writeFile(path, '')],
  ] as const) {
    const changed = join(await temporaryFolder(t), 'changed')
    await cp(place('full'), changed, { recursive: true })
    await change(join(changed, path))
    t.match(await restore.refused(t, 'restore', changed), /Missing or changed: \S+\.\n|no complete backup/)
  }
})

t.test('a backup continues only a backup of its own log, and never replaces one', async t => {
  t.match(await operator.refused(t, 'backup', place('full')), 'is not empty')
  t.match(await operator.refused(t, 'backup', '/dev/null/backup'), '/dev/null/backup')
  t.match(await operator.refused(t, 'backup', '/proc/backup'), '/proc/backup')
  const other = await temporaryFolder(t)
  await startService(t, { folder: other })
  t.match(await operatorOf(other).refused(t, 'backup', place('other'), '--since', place('full')), 'is not of this log')
})

t.test('a backup to a full disk says so, and is none', needsFullDisk(), async t => {
  const disk = await fullDisk(t)
  await writeFile(join(disk, 'other'), Buffer.alloc(1_000_000))
  const folder = join(disk, 'backup')
  t.match(await operator.refused(t, 'backup', folder), `${join(folder, 'log')} cannot be written (No space left`)
  t.match(await operatorOf(join(disk, 'restored')).refused(t, 'restore', folder), 'no complete backup')
})

t.test('log copy: moves a log to a server and back, in steps', async t => {
  const stored = openLmdbEventLog(await temporaryFolder(t), error => t.fail(error.message))
  const server = await startEventStoreServer({ log: stored })
  t.teardown(async () => {
    await server.close()
    await stored.close()
  })
  const original = join(source, 'log')
  const copied = await operator.json<Printed>(t, 'log', 'copy', join(place('full'), 'log'), server.url)
  t.match(copied, { copied: full.position + 1, faults: 0 })
  await customer.run(picture)
  const hiding = operatorOf(source, { NEW_LOG: server.url })
  const rest = await hiding.json<Printed>(t, 'log', 'copy', original, 'env:NEW_LOG')
  t.equal(rest.copied, rest.events - copied.events)
  const back = join(await temporaryFolder(t), 'log')
  t.match(await operator.json<Printed>(t, 'log', 'copy', server.url, back), { copied: rest.events, faults: 0 })
  const other = await temporaryFolder(t)
  await startService(t, { folder: other })
  t.match(await operator.refused(t, 'log', 'copy', original, 'env:NEW_LOG'), 'variable NEW_LOG, which is not set')
  t.match(await operator.refused(t, 'log', 'copy', join(other, 'log'), back), '<to> is not a copy of <from>')
  t.match(await operator.refused(t, 'log', 'copy', original, `${original}/.`), '<from> and <to> are the same log.')
})

const sealOf = async (client: Client): Promise<Seal> => (await client.send<Seal>('/v1/ledger/seal')).body

const positionOf = async (name: string): Promise<number> =>
  JSON.parse(await readFile(join(place(name), 'backup.json'), 'utf8')).position

const bytesAt = async (url = ''): Promise<Buffer> => Buffer.from(await (await fetch(url)).arrayBuffer())
