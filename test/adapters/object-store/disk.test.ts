import { type FileHandle, mkdir, open, readdir, readlink, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import t, { type Test } from 'tap'
import { openDiskObjectStore } from '../../../src/adapters/object-store/disk.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { largeObjectContract } from '../../contract/large-objects.ts'
import { objectStoreContract } from '../../contract/object-store.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { KEY, openFolder, PNG } from './disk.ts'
import { fullDisk, needsFullDisk } from './full-disk.ts'

objectStoreContract('a folder', openFolder)
largeObjectContract('a folder', openFolder)

t.test('an object is a file under its key, without remains', async t => {
  const { store, folder } = await openFolder(t)
  await store.put(KEY, Buffer.from('a'), PNG)
  await store.put(KEY, Buffer.from('b'), PNG)
  t.same((await readdir(folder, { recursive: true })).sort(), ['arriving', 'outputs', KEY].sort())
})

t.test('an object is written over in its place, so that the disk does not keep its bytes', async t => {
  const { store, folder } = await openFolder(t)
  await store.put(KEY, Buffer.from('a secret'), PNG)
  const file = await open(join(folder, KEY))
  t.teardown(() => file.close())
  await store.overwrite(KEY, Buffer.alloc(8))
  t.same(await file.readFile(), Buffer.alloc(8))
})

t.test('an object that fails to be stored leaves nothing behind', async t => {
  const { store, folder, leftovers } = await openFolder(t)
  // A file in the place of the object's folder.
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

t.test('an object’s file is open only while it is read', async t => {
  const { store, folder } = await openFolder(t)
  await store.put(KEY, Buffer.alloc(1_000_000), PNG)
  const openFiles = async () => {
    const links = (await readdir('/proc/self/fd')).map(name => readlink(`/proc/self/fd/${name}`).catch(() => ''))
    return (await Promise.all(links)).filter(path => path.startsWith(folder))
  }
  const unread = await store.get(KEY)
  t.same(await openFiles(), [], 'not read yet')
  const left = await store.get(KEY)
  await new Promise(resolve => left?.body.once('data', resolve))
  t.same(await openFiles(), [join(folder, KEY)])
  left?.body.destroy()
  unread?.body.destroy()
  for (const object of [unread, left])
    if (object?.body.closed === false) await new Promise(resolve => object.body.once('close', resolve))
  t.same(await openFiles(), [], 'abandoned in the middle')
  const read = await store.get(KEY)
  t.equal(read && (await buffer(read.body)).byteLength, 1_000_000)
  t.same(await openFiles(), [], 'read to the end')
})

t.test('a body belongs to the object that was found, or fails', async t => {
  const { store } = await openFolder(t)
  await store.put(KEY, Buffer.from('first'), PNG)
  const first = await store.get(KEY)
  await store.put(KEY, Buffer.from('other'), PNG)
  await t.rejects(buffer(first?.body as Readable))
})

t.test('abandoned files are removed at the next start, and recent ones are kept', async t => {
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
  t.equal((await stat(join(folder, KEY))).size, 1, 'stored objects are kept')
})

t.test('a store whose folder is gone fails its check', async t => {
  const folder = join(await temporaryFolder(t), 'objects')
  const { store } = await openFolder(t, folder)
  await rm(folder, { recursive: true })
  await t.rejects(store.check())
})

t.test('an unwritable folder is unavailable', async t => {
  const folder = await temporaryFolder(t)
  await writeFile(join(folder, 'file'), '')
  const options = { folder: join(folder, 'file', 'objects'), putSecret: 'a secret', putUrl: () => '' }
  await t.rejects(openDiskObjectStore(options), Unavailable)
})

t.test('a full disk is unavailable, and accepts objects again when there is space', needsFullDisk(), async t => {
  const folder = await fullDisk(t)
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

t.test('a disk that is nearly full takes no objects, and serves those it has', async t => {
  const { store, folder, leftovers } = await openFolder(t)
  await store.put(KEY, Buffer.from('a'), PNG)
  const full = await openDiskObjectStore({ folder, putSecret: 's', putUrl: () => 'http://a', reserveBytes: 2 ** 60 })
  t.teardown(() => full.close())
  await t.rejects(full.put(KEY, Buffer.from('b'), PNG), Unavailable)
  await t.rejects(full.receive(), { message: /MB free; [\d,]+ MB are required/ })
  t.same(await leftovers(), [])
  t.match(await full.stat(KEY), { sizeBytes: 1 })
  await full.delete(KEY)
  t.equal(await full.stat(KEY), undefined)
})

t.test('an object appears when its file is durable, and is stored when its folders are', async t => {
  const { store, folder } = await openFolder(t)
  const syncs = await traceSyncs(t)
  let isStored = false
  const see = async (path: string) => ({
    synced: relative(folder, path).replace(/(?<=^arriving\/).*/, 'a file'),
    isVisible: (await store.stat(KEY)) !== undefined,
    isStored,
  })
  const seen: Awaited<ReturnType<typeof see>>[] = []
  syncs.onSync = async path => void seen.push(await see(path))
  await store.put(KEY, Buffer.from('a'), PNG).then(() => (isStored = true))
  t.same(seen, [
    { synced: 'arriving/a file', isVisible: false, isStored: false },
    { synced: '', isVisible: false, isStored: false },
    { synced: 'outputs', isVisible: true, isStored: false },
  ])
})

t.test('an object that cannot be synced is not stored', async t => {
  const { store, folder, leftovers } = await openFolder(t)
  const syncs = await traceSyncs(t)
  for (const failing of ['arriving', 'outputs']) {
    syncs.onSync = async path => {
      if (relative(folder, path).startsWith(failing)) throw new Error('the disk is broken')
    }
    await t.rejects(store.put(KEY, Buffer.from('a'), PNG), { message: 'the disk is broken' }, failing)
    t.same(await leftovers(), [])
  }
})

t.test('an object is deleted when its folder is durable', async t => {
  const { store, folder } = await openFolder(t)
  await store.put(KEY, Buffer.from('a'), PNG)
  const syncs = await traceSyncs(t)
  const seen: [string, boolean][] = []
  syncs.onSync = async path => void seen.push([relative(folder, path), (await store.stat(KEY)) !== undefined])
  await store.delete(KEY)
  t.same(seen, [['outputs', false]])
})

/** Calls `onSync` with the path of each file or folder before it is synced. */
const traceSyncs = async (t: Test) => {
  const trace = { onSync: async (_path: string): Promise<void> => undefined }
  const file = await open('/dev/null')
  const prototype = Object.getPrototypeOf(file) as FileHandle
  await file.close()
  const { sync } = prototype
  prototype.sync = async function (this: FileHandle) {
    await trace.onSync(await readlink(`/proc/self/fd/${this.fd}`))
    return sync.call(this)
  }
  t.teardown(() => {
    prototype.sync = sync
  })
  return trace
}
