import { mkdir, readdir, readlink, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import t from 'tap'
import { openDiskObjectStore } from '../../../src/adapters/object-store/disk.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { objectStoreContract } from '../../contract/object-store.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { KEY, openFolder, PNG } from './disk.ts'
import { fullDisk } from './full-disk.ts'

objectStoreContract('a folder', openFolder)

t.test('an object is a file under its key, and nothing else is left', async t => {
  const { store, folder } = await openFolder(t)
  await store.put(KEY, Buffer.from('a'), PNG)
  await store.put(KEY, Buffer.from('b'), PNG)
  t.same((await readdir(folder, { recursive: true })).sort(), ['arriving', 'outputs', KEY].sort())
})

t.test('an object that cannot be stored leaves nothing behind', async t => {
  const { store, folder, leftovers } = await openFolder(t)
  // A file stands where the folder of the object belongs.
  await writeFile(join(folder, 'outputs'), '')
  await t.rejects(store.put(KEY, Buffer.from('a'), PNG))
  t.same(await leftovers(), [])
})

t.test('a key that names a folder is absent', async t => {
  const { store, folder } = await openFolder(t)
  await mkdir(join(folder, KEY), { recursive: true })
  t.equal(await store.get(KEY), undefined)
  t.equal(await store.stat(KEY), undefined)
})

t.test('an object lies open only while it is read', async t => {
  const { store, folder } = await openFolder(t)
  await store.put(KEY, Buffer.alloc(1_000_000), PNG)
  const openFiles = async () => {
    const links = (await readdir('/proc/self/fd')).map(name => readlink(`/proc/self/fd/${name}`).catch(() => ''))
    return (await Promise.all(links)).filter(path => path.startsWith(folder))
  }
  const unread = await store.get(KEY)
  t.same(await openFiles(), [], 'nobody reads it yet')
  const left = await store.get(KEY)
  await new Promise(resolve => left?.body.once('data', resolve))
  t.same(await openFiles(), [join(folder, KEY)])
  left?.body.destroy()
  unread?.body.destroy()
  for (const object of [unread, left])
    if (object?.body.closed === false) await new Promise(resolve => object.body.once('close', resolve))
  t.same(await openFiles(), [], 'it is left in the middle')
  const read = await store.get(KEY)
  t.equal(read && (await buffer(read.body)).byteLength, 1_000_000)
  t.same(await openFiles(), [], 'it is read to its end')
})

t.test('a body is of the object that was found, or breaks off', async t => {
  const { store } = await openFolder(t)
  await store.put(KEY, Buffer.from('first'), PNG)
  const first = await store.get(KEY)
  await store.put(KEY, Buffer.from('other'), PNG)
  await t.rejects(buffer(first?.body as Readable))
})

t.test('what was abandoned on its way in is removed at the next start, and what may still grow is not', async t => {
  const { folder, store } = await openFolder(t)
  const [old, young] = ['old', 'young'].map(name => join(folder, 'arriving', name)) as [string, string]
  for (const path of [old, young]) await writeFile(path, 'a')
  const minutesAgo = (minutes: number) => Date.now() / 1000 - minutes * 60
  await utimes(old, minutesAgo(61), minutesAgo(61))
  await utimes(young, minutesAgo(59), minutesAgo(59))
  await store.put(KEY, Buffer.from('a'), PNG)
  await utimes(join(folder, KEY), 0, 0)
  await openFolder(t, folder)
  t.same(await readdir(join(folder, 'arriving')), ['young'])
  t.equal((await stat(join(folder, KEY))).size, 1, 'an object is not abandoned')
})

t.test('a store whose folder is gone says that it does not answer', async t => {
  const folder = join(await temporaryFolder(t), 'objects')
  const { store } = await openFolder(t, folder)
  await rm(folder, { recursive: true })
  await t.rejects(store.check())
})

t.test('a folder that cannot be written is unavailable', async t => {
  const folder = await temporaryFolder(t)
  await writeFile(join(folder, 'file'), '')
  const options = { folder: join(folder, 'file', 'objects'), putSecret: 'a secret', putUrl: () => '' }
  await t.rejects(openDiskObjectStore(options), Unavailable)
})

t.test('a full disk is unavailable, and takes objects again when there is room', async t => {
  const folder = await fullDisk(t)
  if (!folder) return t.pass('it is full', { skip: 'this machine lets nobody make a small disk' })
  const { store, leftovers } = await openFolder(t, folder)
  const large = Buffer.alloc(2_000_000)
  await t.rejects(store.put(KEY, large, PNG), Unavailable)
  const incoming = await store.receive()
  incoming.body.end(large)
  await t.rejects(finished(incoming.body), Unavailable)
  await incoming.discard()
  t.same(await leftovers(), [])
  await t.resolves(store.put(KEY, Buffer.from('a'), PNG))
})
