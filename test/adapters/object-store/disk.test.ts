import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { openDiskObjectStore } from '../../../src/adapters/object-store/disk.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { objectStoreContract } from '../../contract/object-store.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const KEY = `outputs/${'0'.repeat(32)}.png`

objectStoreContract('a folder', async t => openDiskObjectStore(await temporaryFolder(t)))

t.test('an object is a file under its key, and nothing else is left', async t => {
  const folder = await temporaryFolder(t)
  const store = await openDiskObjectStore(folder)
  await store.put(KEY, Buffer.from('a'))
  await store.put(KEY, Buffer.from('b'))
  t.same((await readdir(folder, { recursive: true })).sort(), ['arriving', 'outputs', KEY].sort())
})

t.test('an object that cannot be stored leaves nothing behind', async t => {
  const folder = await temporaryFolder(t)
  const store = await openDiskObjectStore(folder)
  // A file stands where the folder of the object belongs.
  await writeFile(join(folder, 'outputs'), '')
  await t.rejects(store.put(KEY, Buffer.from('a')))
  t.same(await readdir(join(folder, 'arriving')), [])
})

t.test('a key that names a folder is absent', async t => {
  const folder = await temporaryFolder(t)
  const store = await openDiskObjectStore(folder)
  await mkdir(join(folder, KEY), { recursive: true })
  t.equal(await store.get(KEY), undefined)
})

t.test('a store whose folder is gone says that it does not answer', async t => {
  const folder = join(await temporaryFolder(t), 'objects')
  const store = await openDiskObjectStore(folder)
  await rm(folder, { recursive: true })
  await t.rejects(store.check())
})

t.test('a folder that cannot be written is unavailable', async t => {
  const folder = await temporaryFolder(t)
  await writeFile(join(folder, 'file'), '')
  await t.rejects(openDiskObjectStore(join(folder, 'file', 'objects')), Unavailable)
})
