import t, { type Test } from 'tap'
import { sha256 } from '../src/engine/canonical.ts'
import { Reads } from '../src/engine/reads.ts'
import { welcome } from '../src/first-start.ts'
import { Unavailable } from '../src/ports/faults.ts'
import { openFolder } from './support/service.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

/** Makes a first start, and resolves to the rows that the views have of the keys when they are shown. */
const greet = async (t: Test) => {
  const core = await openFolder(await temporaryFolder(t))
  t.teardown(() => core.close())
  const shown: unknown[] = []
  t.intercept(console, 'log', {
    value: (text: string) => {
      for (const key of new Set(text.match(/tg_sk_live_[0-9a-f]{32}/g))) shown.push(core.reads.get('keys', sha256(key)))
    },
  })
  await welcome(core, 'http://localhost')
  return Promise.all(shown)
}

t.test('the first key is known to the service when it is shown', async t => {
  t.match(await greet(t), [{ name: 'first' }])
})

t.test('the first key is shown whatever the views do', async t => {
  const value = () => Promise.reject(new Unavailable('the views are behind the log'))
  t.intercept(Reads.prototype, 'ownWrites', { value })
  t.equal((await greet(t)).length, 1)
})
