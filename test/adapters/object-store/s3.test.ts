import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'minio'
import t, { type Test } from 'tap'
import { openS3ObjectStore, type S3Options } from '../../../src/adapters/object-store/s3.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { largeObjectContract } from '../../contract/large-objects.ts'
import { objectStoreContract, textOf } from '../../contract/object-store.ts'
import { needsS3, startRadosgw } from '../../support/radosgw.ts'
import { freePorts } from '../../support/server-program.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'

const PNG = 'image/png'
const KEY = `outputs/${'0'.repeat(32)}.png`
const DAY_MS = 24 * 60 * 60 * 1000

t.test('a bucket', needsS3(), async t => {
  const server = await startRadosgw()
  t.teardown(() => server.stop())
  const { host, port, region, accessKey, secretKey } = server
  const client = new Client({ endPoint: host, port, region, accessKey, secretKey, useSSL: false })

  const optionsFor = async (t: Test, options: Partial<S3Options> = {}): Promise<S3Options> => ({
    ...{ host, port, tls: false, region, accessKey, secretKey, publicUrl: undefined },
    bucket: options.bucket ?? (await server.createBucket()),
    retention: { uploadsMs: DAY_MS, outputsMs: 7 * DAY_MS },
    stagingFolder: await temporaryFolder(t),
    onWarning: error => t.fail(error.message),
    ...options,
  })

  const open = async (t: Test, options: Partial<S3Options> = {}) => {
    const { bucket, stagingFolder, ...others } = await optionsFor(t, options)
    const store = await openS3ObjectStore({ bucket, stagingFolder, ...others })
    t.teardown(() => store.close())
    return { store, bucket, stagingFolder, leftovers: () => readdir(stagingFolder) }
  }

  const faultOf = async (outcome: Promise<unknown>): Promise<string> => {
    const error = await outcome.then(
      () => undefined,
      error => error,
    )
    if (!(error instanceof Unavailable)) throw new Error('The error is not Unavailable.', { cause: error })
    return error.message
  }

  await objectStoreContract('a bucket of S3', open, t)
  await largeObjectContract('a bucket of S3', open, t)

  t.test('an object has its type and may be cached, however it was stored', async t => {
    const { store, bucket } = await open(t)
    const check = async () =>
      t.match((await client.statObject(bucket, KEY)).metaData, {
        'content-type': PNG,
        'cache-control': 'public, max-age=3600',
      })
    await store.put(KEY, Buffer.from('a'), PNG)
    await check()
    await store.delete(KEY)
    const incoming = await store.receive()
    incoming.body.end('b')
    await incoming.store(KEY, PNG)
    await check()
  })

  t.test('an object has the time at which the server stored it', async t => {
    const { store } = await open(t)
    const beforeMs = Date.now() - 2_000
    await store.put(KEY, Buffer.from('bytes'), PNG)
    const storedAtMs = (await store.stat(KEY))?.storedAtMs ?? 0
    t.ok(storedAtMs >= beforeMs && storedAtMs <= Date.now() + 2_000)
  })

  t.test('staged files are readable only by their owner', async t => {
    const { store, leftovers, stagingFolder } = await open(t)
    const incoming = await store.receive()
    const [name = ''] = await leftovers()
    t.equal((await stat(join(stagingFolder, name))).mode & 0o777, 0o600)
    await incoming.discard()
  })

  t.test('an object that the server refuses leaves no local file', async t => {
    const { store, bucket, leftovers } = await open(t)
    await client.removeBucket(bucket)
    const incoming = await store.receive()
    incoming.body.end('a')
    t.match(await faultOf(incoming.store(KEY, PNG)), bucket)
    t.same(await leftovers(), [])
  })

  t.test('clients get the server’s public URL', async t => {
    const { store } = await open(t, { publicUrl: `http://localhost:${port}` })
    const grant = { key: KEY, mimeType: PNG, maxSizeBytes: 10, expiresAtMs: Date.now() + 60_000, purpose: '' }
    const url = await store.presignPut(grant)
    t.match(url, new RegExp(`^http://localhost:${port}/`))
    t.equal((await fetch(url, { method: 'PUT', body: 'sent' })).status, 200)
    t.equal(await textOf(store, KEY), 'sent')
    const elsewhere = await open(t, { publicUrl: 'https://files.example.com' })
    t.match(await elsewhere.store.presignPut(grant), /^https:\/\/files\.example\.com\/bucket-/)
  })

  t.test('a grant may last longer than the maximum of a signature', async t => {
    const { store } = await open(t)
    const grant = { key: KEY, mimeType: PNG, maxSizeBytes: 10, expiresAtMs: Date.now() + 30 * DAY_MS, purpose: '' }
    t.equal((await fetch(await store.presignPut(grant), { method: 'PUT', body: 'sent' })).status, 200)
  })

  t.test('a store needs its bucket and a valid key to open', async t => {
    const missing = await faultOf(open(t, { bucket: 'nowhere' }))
    t.match(missing, 'nowhere')
    t.match(missing, `${host}:${port}`)
    t.match(missing, /aws s3 mb s3:\/\/nowhere/)
    const bucket = await server.createBucket()
    for (const wrong of [{ accessKey: 'somebody' }, { secretKey: 'a wrong secret' }]) {
      const message = await faultOf(open(t, { bucket, ...wrong }))
      t.match(message, bucket)
      t.match(message, /denies access/)
      for (const secret of [secretKey, 'a wrong secret']) t.notMatch(message, secret)
    }
  })

  t.test('an unreachable server is unavailable', async t => {
    const [unused] = await freePorts(host, 1)
    t.match(await faultOf(open(t, { port: unused })), `${host}:${unused}`)
    t.match(await faultOf(open(t, { tls: true })), /tls=off/, 'so is a server without TLS')
  })

  t.test('requests to a silent server time out', async t => {
    const { store, leftovers } = await open(t, { answerMs: 300 })
    await store.put(KEY, Buffer.from('a'), PNG)
    process.kill(server.pid, 'SIGSTOP')
    // Until all of its threads stop, it may still answer.
    await until('the server stops', async () =>
      /^State:\tT/m.test(await readFile(`/proc/${server.pid}/status`, 'utf8')),
    )
    try {
      const incoming = await store.receive()
      incoming.body.end('b')
      const outcomes = [store.check(), store.get(KEY), store.stat(KEY), store.delete(KEY), incoming.store(KEY, PNG)]
      for (const message of await Promise.all(outcomes.map(faultOf))) t.match(message, /timeout/)
      t.same(await leftovers(), [])
    } finally {
      process.kill(server.pid, 'SIGCONT')
    }
  })

  t.test('lifecycle rules delete expired objects after the service does', async t => {
    const { bucket } = await open(t)
    const ofOutputs = { 'tollgate-outputs': ['outputs/', 8], 'tollgate-thumbnails': ['thumbnails/', 8] }
    t.same(await rulesOf(bucket), { 'tollgate-uploads': ['uploads/', 2], ...ofOutputs })
    await open(t, { bucket, retention: { uploadsMs: DAY_MS + 1, outputsMs: 1 } })
    t.same(
      await rulesOf(bucket),
      { 'tollgate-uploads': ['uploads/', 3], ...ofOutputs },
      'existing objects keep the longer retention',
    )
  })

  t.test('other lifecycle rules of the bucket are kept', async t => {
    const bucket = await server.createBucket()
    const others = { ID: '007', Prefix: 'logs/2.50', Status: 'Enabled', Expiration: { Days: 3 } }
    await client.setBucketLifecycle(bucket, { Rule: [others] } as never)
    const before = await rawRules(bucket)
    await open(t, { bucket })
    await open(t, { bucket, retention: { uploadsMs: 3 * DAY_MS, outputsMs: 1 } })
    const after = await rawRules(bucket)
    t.equal(after.length, 4)
    t.ok(after.includes(before[0] ?? ''), 'byte for byte')
  })

  t.test('a store that may not set lifecycle rules opens with a warning', async t => {
    const bucket = await server.createBucket()
    const statement = { Effect: 'Deny', Principal: '*', Action: 's3:PutLifecycleConfiguration' }
    const policy = { Version: '2012-10-17', Statement: [{ ...statement, Resource: `arn:aws:s3:::${bucket}` }] }
    await client.setBucketPolicy(bucket, JSON.stringify(policy))
    const warnings: string[] = []
    const { store } = await open(t, { bucket, onWarning: error => warnings.push(error.message) })
    t.match(warnings, [bucket])
    t.equal(warnings.length, 1)
    await t.resolves(store.put(KEY, Buffer.from('a'), PNG))
  })

  t.test('a stopped server is unavailable', async t => {
    const { store } = await open(t)
    const read = await store.get(KEY)
    t.equal(read, undefined)
    await server.stop()
    const incoming = await store.receive()
    incoming.body.end('a')
    const outcomes = [store.check(), store.get(KEY), store.stat(KEY), store.delete(KEY), incoming.store(KEY, PNG)]
    for (const message of await Promise.all(outcomes.map(faultOf))) t.match(message, /does not answer/)
  })

  const rawRules = async (bucket: string): Promise<string[]> => {
    const url = await client.presignedUrl('GET', bucket, '', 60, { lifecycle: '' })
    return (await (await fetch(url)).text()).match(/<Rule>.*?<\/Rule>/gs) ?? []
  }

  const rulesOf = async (bucket: string) =>
    Object.fromEntries(
      (await rawRules(bucket)).map(rule => {
        const part = (name: string) => new RegExp(`<${name}>(.*?)</${name}>`).exec(rule)?.[1] ?? ''
        return [part('ID'), [part('Prefix'), Number(part('Days'))]]
      }),
    )
})
