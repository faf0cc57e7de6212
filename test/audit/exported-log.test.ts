import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { openExportedLog } from '../../src/audit/exported-log.ts'
import { readLog } from '../../src/audit/read-log.ts'
import { collect } from '../support/collect.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const event = (stream: string, revision: number, position: number) => ({
  ...{ stream, revision, position },
  ...{ id: `id-${position}`, type: 'Something', data: {}, metadata: {} },
})

t.test('the events of an account are found wherever they stand in the file', async t => {
  const others = Array.from({ length: 2500 }, (_, index) => event('account-other', index, index))
  const own = [event('account-own', 0, 2500), event('account-own', 1, 2501)]
  const path = join(await temporaryFolder(t), 'log.jsonl')
  await writeFile(path, [...others, ...own].map(each => `${JSON.stringify(each)}\n`).join(''))
  t.same(await collect(readLog(openExportedLog(path), { account: 'own' })), own)
})
