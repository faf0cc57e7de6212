import t from 'tap'
import { uploadCrash } from './upload-crash.ts'

t.setTimeout(180_000)

// By hand: node --import=tsx test/simulation/upload-crash.ts
t.test('a service that is killed at any step of an upload leaves it stored, or nowhere', async t => {
  const { victims, faults } = await uploadCrash()
  t.same(faults, [])
  t.equal(victims, 14)
})
