import t from 'tap'
import { sha256 } from '../src/engine/canonical.ts'
import { welcome } from '../src/first-start.ts'
import { openFolder } from './support/service.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

t.test('the first key is known to the service when it is shown', async t => {
  const core = await openFolder(await temporaryFolder(t))
  t.teardown(() => core.close())
  const shown: unknown[] = []
  t.intercept(console, 'log', {
    value: (text: string) => {
      const [key = ''] = text.match(/tg_sk_live_[0-9a-f]{32}/) ?? []
      shown.push(core.reads.get('keys', sha256(key)))
    },
  })
  await welcome(core, 'http://localhost')
  t.match(await Promise.all(shown), [{ name: 'first' }])
})
