import { chmod, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { picture } from '../support/client.ts'
import { openAccounts } from '../support/service.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

t.test('only the user of the service can read its files', async t => {
  const folder = await temporaryFolder(t)
  // As a service and its commands set it.
  const umask = process.umask(0o077)
  const [customer] = await openAccounts(folder, { credits: 100 })
  process.umask(umask)
  await chmod(folder, 0o755)
  const { url } = await startServiceProcess(t, folder, { VIEW_STORE_URL: `lmdb:${join(folder, 'new-views')}` })
  t.equal((await customer.at(url).run(picture)).status, 200)
  const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)
  t.equal(await modeOf(folder), '700')
  for (const created of ['new-views', 'objects']) {
    t.equal(await modeOf(join(folder, created)), '700', created)
    const entries = await readdir(join(folder, created), { recursive: true, withFileTypes: true })
    t.ok(entries.length > 0)
    for (const entry of entries)
      t.equal(await modeOf(join(entry.parentPath, entry.name)), entry.isDirectory() ? '700' : '600', entry.name)
  }
})
