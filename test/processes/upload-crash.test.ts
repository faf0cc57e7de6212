import t from 'tap'
import { uploadCrash } from './upload-crash.ts'

t.setTimeout(180_000)

// Run manually: node --import=tsx test/processes/upload-crash.ts
t.test('after a kill at any step of an upload the file is either stored or gone', async t => {
  const { victims, faults } = await uploadCrash()
  t.same(faults, [])
  t.equal(victims, 14)
})
