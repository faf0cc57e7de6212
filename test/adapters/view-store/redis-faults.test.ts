import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openRedisViewStore } from '../../../src/adapters/view-store/redis.ts'
import type { RedisOptions } from '../../../src/adapters/view-store/redis-connection.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { BY_KEY, type Checkpoint, CheckpointMoved, type StoredViews } from '../../../src/ports/view-store.ts'
import { needsRedis, type RedisServer, startRedis } from '../../support/redis-server.ts'
import { redisAt } from '../../support/store-addresses.ts'
import { isLong } from '../../support/test-length.ts'
import { until } from '../../support/until.ts'

const start = async (t: Test, settings?: string[]) => {
  const server = await startRedis(settings)
  t.teardown(() => server.stop())
  return server
}

const open = async (t: Test, url: string, options: Partial<RedisOptions> = {}) => {
  const store = await openRedisViewStore({
    address: redisAt(url),
    onWarning: warning => t.fail(warning.message),
    ...options,
  })
  t.teardown(() => store.close())
  return store
}

/** The number of commits during which the server is killed, at different moments. */
const ROUNDS = isLong ? 8 : 4

/** So many that a commit takes long enough to be interrupted. */
const ROWS = 1000

const checkpointAt = (position: number): Checkpoint => ({
  position,
  eventId: `event-${position}`,
  origin: 'event-0',
  versions: { accounts: 'accounts 1' },
})

const rowAt = (position: number) => JSON.stringify({ position, text: 'x'.repeat(1000) })

const commit = (store: StoredViews, position: number, rowCount = 1) =>
  store.commit({
    from: position === 1 ? undefined : checkpointAt(position - 1),
    to: checkpointAt(position),
    rows: Array.from({ length: rowCount }, (_, index) => ({
      ...{ view: 'fruit', key: String(index) },
      row: rowAt(position),
    })),
    entries: Array.from({ length: rowCount }, (_, index) => ({
      ...{ view: 'fruit', index: 'byPosition', place: `${position}/${index}`, key: String(index) },
    })),
  })

/** All operations, while the store is unavailable. */
const attempts: [string, (store: StoredViews) => Promise<unknown>][] = [
  ['checkpoint', store => store.checkpoint()],
  ['get', store => store.get('fruit', '0')],
  ['getMany', store => store.getMany([{ view: 'fruit', key: '0' }])],
  ['list', store => store.list('fruit', 'byPosition', { prefix: '', limit: 1 })],
  ['loadSnapshot', store => store.loadSnapshot('one')],
  ['commit', store => commit(store, 2)],
  ['lease', store => store.lease(['a'], 'one', 0, 100)],
  ['release', store => store.release(['a'], 'one')],
  ['saveSnapshot', store => store.saveSnapshot('one', { body: '{}', mac: '' })],
  ['dump', store => store.dump()],
  ['clear', store => store.clear()],
]
const reads = attempts.slice(0, 5)
const writes = attempts.slice(5)

const areUnavailable = async (t: Test, store: StoredViews, { host, port }: RedisServer, some = attempts) => {
  await Promise.all(
    some.map(async ([name, attempt]) => {
      const error = await attempt(store).then(
        () => undefined,
        error => error,
      )
      t.ok(error instanceof Unavailable, `${name}: ${error}`)
      t.match(error?.message, `Redis at ${host}:${port}`)
      t.equal(error?.cause, undefined, 'the error does not contain the command')
    }),
  )
}

/** Resolves when the store responds again. */
const answers = (store: StoredViews) =>
  until('the store responds', () =>
    store.checkpoint().then(
      () => true,
      () => false,
    ),
  )

t.test('faults of Redis', needsRedis(), async t => {
  t.test('a stopped server is unavailable, and is found again', async t => {
    const server = await start(t)
    const store = await open(t, server.url)
    await commit(store, 1)
    await server.kill()
    await areUnavailable(t, store, server)
    const place = `${server.host}:${server.port}`
    await t.rejects(openRedisViewStore({ address: redisAt(server.url), onWarning: () => undefined }), {
      name: 'Unavailable',
      message: `Redis at ${place} is not available (connect ECONNREFUSED ${place})`,
    })
    await server.start()
    await answers(store)
    t.equal(await store.checkpoint(), undefined, 'it kept no data')
    await t.rejects(commit(store, 2), CheckpointMoved)
    await answers(store)
    await commit(store, 1)
    t.same(await store.checkpoint(), checkpointAt(1))
  })

  t.test('a hung server is unavailable, and a commit that succeeds late is not repeated', async t => {
    const server = await start(t)
    const store = await open(t, server.url, { writeMs: 1000 })
    await commit(store, 1)
    server.pause()
    await Promise.all([
      areUnavailable(t, store, server, reads),
      t.rejects(commit(store, 2), Unavailable),
      t.rejects(openRedisViewStore({ address: redisAt(server.url), onWarning: () => undefined }), Unavailable),
    ])
    server.continue()
    await answers(store)
    const isMade = (await store.checkpoint())?.position === 2
    t.ok(isMade, 'the commit was only late')
    await t.rejects(commit(store, 2), CheckpointMoved)
    await commit(store, 3)
    t.same(
      await store.list('fruit', 'byPosition', { prefix: '', limit: 10 }).then(found => found.map(({ place }) => place)),
      [...['1/0', '2/0', '3/0']],
    )
  })

  t.test('lost views are not read until they have caught up', async t => {
    const server = await start(t)
    const [one, other] = [await open(t, server.url), await open(t, server.url)]
    for (const position of [1, 2, 3]) await commit(one, position)
    t.equal(await other.get('fruit', '0'), rowAt(3))
    await server.command('FLUSHALL')
    const lost: (() => Promise<unknown>)[] = [
      () => other.get('fruit', '0'),
      () => other.get('fruit', 'unknown'),
      () => other.list('fruit', BY_KEY, { prefix: '', limit: 10 }),
      () => other.list('fruit', 'byPosition', { prefix: '', limit: 10 }),
    ]
    for (const position of [1, 2, 3]) {
      for (const read of lost) await t.rejects(read(), Unavailable, `until position ${position}`)
      t.equal((await other.checkpoint())?.position, position === 1 ? undefined : position - 1)
      await commit(one, position)
    }
    for (const read of lost) await t.resolves(read())
    const [entry] = await other.list('fruit', 'byPosition', { prefix: '', limit: 1 })
    t.equal(entry?.row, rowAt(3))
    await other.clear()
    t.equal(await other.get('fruit', '0'), undefined, 'a store that this process cleared is empty')
  })

  t.test('reads must reach the highest position that the process has seen', async t => {
    const server = await start(t)
    const [one, other] = [await open(t, server.url), await open(t, server.url)]
    for (const position of [1, 2, 3]) await commit(one, position)
    t.equal((await other.checkpoint())?.position, 3, 'it only reads the checkpoint')
    await server.command('FLUSHALL')
    await commit(one, 1)
    await t.rejects(other.get('fruit', '0'), Unavailable)
    await t.rejects(other.list('fruit', BY_KEY, { prefix: '', limit: 1 }), Unavailable)
  })

  t.test('a commit during which the server is killed is complete or absent', async t => {
    const server = await start(t, ['--appendonly', 'yes', '--appendfsync', 'everysec'])
    const store = await open(t, server.url)
    // The first commit takes longer than later ones.
    await commit(store, 1, ROWS)
    const beganAtMs = performance.now()
    await commit(store, 2, ROWS)
    const commitMs = performance.now() - beganAtMs
    let position = 2
    for (let round = 0; round < ROUNDS; round++) {
      const outcome = commit(store, position + 1, ROWS).then(
        () => 'made',
        error => error,
      )
      await sleep((commitMs * round) / ROUNDS)
      await server.kill()
      const made = await outcome
      if (made !== 'made') t.type(made, Unavailable)
      await server.start()
      await answers(store)
      const now = (await store.checkpoint())?.position ?? 0
      t.ok(
        made === 'made' ? now === position + 1 : now === position || now === position + 1,
        `${now} in round ${round}`,
      )
      position = now ?? 0
      const list = (index: string) =>
        until('a busy server answers', () =>
          store.list('fruit', index, { prefix: '', limit: 100_000 }).catch(() => undefined),
        )
      const rows = await list('key')
      t.equal(rows.length, ROWS)
      t.equal(rows.filter(({ row }) => row !== rowAt(position)).length, 0)
      t.equal((await list('byPosition')).length, ROWS * position)
    }
  })

  t.test('a full server refuses writes, and accepts them again later', async t => {
    const server = await start(t)
    const store = await open(t, server.url)
    await commit(store, 1)
    await server.command('CONFIG SET maxmemory 1')
    await areUnavailable(t, store, server, [['commit', store => commit(store, 2)], ...writes.slice(3, 4)])
    t.same(await store.checkpoint(), checkpointAt(1))
    t.equal((await store.list('fruit', 'byPosition', { prefix: '', limit: 10 })).length, 1, 'reads still work')
    await server.command('CONFIG SET maxmemory 0')
    await commit(store, 2)
  })

  t.test('a server that becomes a replica refuses writes, and without its master also reads', async t => {
    const server = await start(t)
    const store = await open(t, server.url)
    await commit(store, 1)
    await server.command(`REPLICAOF ${server.host} 1`)
    await t.rejects(commit(store, 2), Unavailable)
    await answers(store)
    t.same(await store.checkpoint(), checkpointAt(1), 'nothing was written')
    await server.command('CONFIG SET replica-serve-stale-data no')
    await areUnavailable(t, store, server)
    await server.command('REPLICAOF NO ONE')
    await answers(store)
    t.same(await store.checkpoint(), checkpointAt(1))
  })

  t.test('a server busy with another script is unavailable', async t => {
    const server = await start(t, ['--busy-reply-threshold', '1'])
    const store = await open(t, server.url)
    await commit(store, 1)
    const endless = server.command('EVAL "while true do end" 0')
    await until('the server is busy', async () => (await server.command('PING')).startsWith('-BUSY'))
    await areUnavailable(t, store, server)
    await server.command('SCRIPT KILL')
    await endless
    await commit(store, 2)
  })

  t.test('a server that is loading its data is unavailable', async t => {
    const server = await start(t, ['--appendonly', 'yes'])
    const store = await open(t, server.url)
    await commit(store, 1)
    await server.command('EVAL "for i = 1, 200000 do redis.call(\'SET\', i, i) end" 0')
    await server.kill()
    // It loads for far longer than the test, unless told to finish at once.
    await server.start(['--key-load-delay', '100'])
    t.match(await server.command('PING'), /^-LOADING/)
    await areUnavailable(t, store, server)
    const isLoading = { name: 'Unavailable', message: /LOADING/ }
    await t.rejects(openRedisViewStore({ address: redisAt(server.url), onWarning: () => undefined }), isLoading)
    await server.command('CONFIG SET key-load-delay 0')
    await answers(store)
    t.same(await store.checkpoint(), checkpointAt(1))
  })
})
