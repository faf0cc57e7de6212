import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openRedisViewStore } from '../../../src/adapters/view-store/redis.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { dumpText } from '../../support/dump.ts'
import { needsRedis, startRedis } from '../../support/redis-server.ts'
import { freePorts } from '../../support/server-program.ts'
import { ScriptProcess } from '../../support/service-process.ts'
import { redisAt } from '../../support/store-addresses.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const to = { position: 1, eventId: 'a', origin: 'event-0', versions: { accounts: 'accounts 1' } }

const start = async (t: Test, settings?: string[]) => {
  const server = await startRedis(settings)
  t.teardown(() => server.stop())
  return server
}

/** Exercises an opened store end to end. */
const useStore = async (t: Test, url: string) => {
  const store = await openRedisViewStore({ address: redisAt(url), onWarning: warning => t.fail(warning.message) })
  t.teardown(() => store.close())
  await store.commit({ from: undefined, to, rows: [{ view: 'fruit', key: 'apple', row: '{}' }], entries: [] })
  t.equal((await store.list('fruit', 'key', { prefix: '', limit: 1 })).length, 1)
  const { cells, close } = await store.dump()
  for await (const { address } of cells) t.equal(address, 'rows/fruit/apple')
  close()
  await store.lease(['a'], 'one', 0, 100)
  await store.saveSnapshot('one', { body: '{}', mac: '' })
  await store.clear()
}

const refusal = async (url: string): Promise<string> => {
  const error = await openRedisViewStore({ address: redisAt(url), onWarning: () => undefined }).then(
    store => store.close(),
    error => error,
  )
  return `${error?.name}: ${error?.message}`
}

t.test('a server with a password', needsRedis(), async t => {
  const { host, port } = await start(t, ['--requirepass', 'p@ss/word:1'])
  const server = `Unavailable: Redis at ${host}:${port}`
  await useStore(t, `redis://:${encodeURIComponent('p@ss/word:1')}@${host}:${port}`)
  t.match(await refusal(`redis://${host}:${port}`), `${server} is not available (NOAUTH`)
  const refused = await refusal(`redis://:wrong-one@${host}:${port}`)
  t.match(refused, `${server} is not available (WRONGPASS`)
  t.notMatch(refused, 'wrong-one')
})

t.test('a user with access to our keys only', needsRedis(), async t => {
  const { host, port, command } = await start(t)
  await command('ACL SETUSER ada on >secret ~{tollgate}:* +@all -@dangerous -@admin')
  await useStore(t, `redis://ada:secret@${host}:${port}`)
  await command('ACL SETUSER bob on >secret ~{other}:* +@all')
  const store = await openRedisViewStore({
    address: redisAt(`redis://bob:secret@${host}:${port}`),
    onWarning: () => undefined,
  })
  t.teardown(() => store.close())
  await t.rejects(store.checkpoint(), { name: 'Unavailable', message: /NOPERM/ })
  await t.rejects(store.clear(), { name: 'Unavailable', message: /NOPERM/ })
})

t.test('a commit by a user without all permissions writes nothing', needsRedis(), async t => {
  const { host, port, command } = await start(t)
  const address = redisAt(`redis://${host}:${port}`)
  const store = await openRedisViewStore({ address, onWarning: () => undefined })
  t.teardown(() => store.close())
  const at = (position: number) => ({
    position,
    eventId: `event-${position}`,
    origin: 'event-0',
    versions: { accounts: 'accounts 1' },
  })
  const change = (position: number, row: string | undefined) => ({
    ...{ from: position === 0 ? undefined : at(position - 1), to: at(position) },
    rows: [{ view: 'fruit', key: 'apple', row }],
    entries: [{ view: 'fruit', index: 'byName', place: 'apple', key: row && 'apple' }],
  })
  await store.commit(change(0, 'red'))
  const before = await dumpText(store)
  for (const name of ['hset', 'zadd', 'hdel', 'zrem']) {
    await command(`ACL SETUSER default -${name}`)
    for (const row of ['green', undefined]) await t.rejects(store.commit(change(1, row)), Unavailable, name)
    await command('ACL SETUSER default +@all')
    t.equal(await dumpText(store), before)
    t.same(await store.checkpoint(), at(0))
  }
  await store.commit(change(1, 'green'))
  t.equal(await store.get('fruit', 'apple'), 'green')
})

t.test('a database of the server', needsRedis(), async t => {
  const { url, command } = await start(t)
  const stores = await Promise.all(
    ['', '/0', '/7'].map(path =>
      openRedisViewStore({ address: redisAt(url + path), onWarning: warning => t.fail(warning.message) }),
    ),
  )
  for (const store of stores) t.teardown(() => store.close())
  await stores[2]?.commit({ from: undefined, to, rows: [], entries: [] })
  t.match(await command('INFO keyspace'), /db7:keys=1/)
  t.same(await Promise.all(stores.map(store => store.checkpoint())), [undefined, undefined, to])
  t.match(await refusal(`${url}/99`), /^Unavailable: .*DB index/)
})

t.test('a server with TLS', needsRedis('openssl'), async t => {
  const folder = await temporaryFolder(t)
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const subject = ['-subj', '/CN=redis', '-addext', 'subjectAltName=IP:127.0.0.1']
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  execFileSync('openssl', ['req', ...kind, ...subject, '-keyout', key, '-out', certificate], { stdio: 'ignore' })
  const [port] = (await freePorts('127.0.0.1', 1)) as [number]
  const files = ['--tls-cert-file', certificate, '--tls-key-file', key, '--tls-ca-cert-file', certificate]
  const { command } = await start(t, ['--tls-port', String(port), '--tls-auth-clients', 'no', ...files])
  const url = `rediss://127.0.0.1:${port}`

  // The server does not always report the reason before the connection closes.
  for (let round = 0; round < 20; round++) t.match(await refusal(url), /^Unavailable: .*self-signed certificate/)
  // Node.js reads its trusted certificates at start.
  const trusting = new ScriptProcess('test/support/commit-to-redis.ts', [url], { NODE_EXTRA_CA_CERTS: certificate })
  t.match(await trusting.ended, { code: 0, stdout: 'committed\n' })
  t.equal(await command('EXISTS {tollgate}:cells'), ':1\r\n')
})
