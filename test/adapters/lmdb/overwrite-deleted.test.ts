import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { openLmdbViewStore } from '../../../src/adapters/view-store/lmdb.ts'
import type { Snapshot } from '../../../src/ports/view-store.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

t.test('what a long read still sees is written over once it ends', async t => {
  const folder = await temporaryFolder(t)
  const store = openLmdbViewStore(folder)
  t.teardown(() => store.close())
  const isFound = async () => (await readFile(join(folder, 'data.mdb'))).includes('personal-text')
  const text = 'personal-text '.repeat(20)
  for (let count = 0; count < 200; count++) await store.saveSnapshot(`s${count}`, { text } as unknown as Snapshot)
  const dump = await store.dump()
  await store.deleteSnapshots()
  const overwritten = store.overwriteDeleted?.()
  await delay(2500)
  t.ok(await isFound())
  dump.close()
  await overwritten
  t.notOk(await isFound())
})
