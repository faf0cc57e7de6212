import t from 'tap'
import { isLong } from '../support/test-length.ts'
import { uploadCrash } from './upload-crash.ts'

t.setTimeout(180_000)

// Run manually: node --import=tsx test/simulation/upload-crash.ts
t.test('after a kill at any step of an upload the file is either stored or gone', async t => {
  // The short form takes every third step.
  const { victims, faults } = await uploadCrash({ every: isLong ? 1 : 3 })
  t.same(faults, [])
  t.equal(victims, isLong ? 14 : 5)
})
