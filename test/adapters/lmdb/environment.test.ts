import t from 'tap'
import { closeLmdb, openLmdb } from '../../../src/adapters/lmdb/environment.ts'
import { openStaging } from '../../../src/adapters/object-store/staging.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

t.test('an environment can be opened again while a transaction waits for its callback', async t => {
  const folder = await temporaryFolder(t)
  const first = openLmdb(folder, { durable: false })
  const numbers = first.openDB<number, string>('numbers', { encoding: 'json' })
  const written: Promise<unknown>[] = []
  for (let round = 0; round < 200; round++) {
    written.push(first.transaction(() => numbers.put('round', round)))
    // The library's thread has begun the transaction by now, or does so meanwhile.
    await new Promise(resolve => setImmediate(resolve))
    const again = openLmdb(folder, { durable: false })
    again.openDB('numbers', { encoding: 'json' })
    written.push(closeLmdb(again))
  }
  await Promise.all(written)
  t.equal(numbers.get('round'), 199)
  await closeLmdb(first)
})

t.test('an environment stays open for others until the last one closes it', async t => {
  const folder = await temporaryFolder(t)
  const [one, other] = [openLmdb(folder, { durable: true }), openLmdb(folder, { durable: true })]
  const [ones, others] = [one, other].map(root => root.openDB<number, string>('numbers', { encoding: 'json' }))
  await ones?.put('a', 1)
  await closeLmdb(one)
  await closeLmdb(one)
  t.throws(() => ones?.get('a'), Unavailable)
  t.throws(() => one.transaction(() => undefined), Unavailable)
  await others?.put('b', 2)
  t.same([others?.get('a'), others?.get('b')], [1, 2])
  await closeLmdb(other)
  t.throws(() => others?.get('a'), Unavailable)

  const again = openLmdb(folder, { durable: true })
  t.equal(again.openDB<number, string>('numbers', { encoding: 'json' }).get('b'), 2)
  await closeLmdb(again)
})

// The recursive mkdir of Node.js never ends there.
t.test('a folder in /proc is refused', async t => {
  t.throws(() => openLmdb('/proc/tollgate/log', { durable: true }), Unavailable)
  await t.rejects(openStaging({ folder: '/proc/tollgate/objects', reserveBytes: 0 }), Unavailable)
})
