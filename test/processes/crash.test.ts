import t from 'tap'
import { testSeed } from '../support/seeded-random.ts'
import { isLong } from '../support/test-length.ts'
import { crash } from './crash.ts'

t.setTimeout(280_000)

const kills = isLong ? 10 : 3
const seed = testSeed()

// Run manually: node --import=tsx test/processes/crash.ts --kills 25 --seed SEED
t.test(`a service that is killed repeatedly loses and repeats nothing (TEST_SEED=${seed})`, async t => {
  const { acknowledged, repeated, faults } = await crash({ kills, seed })
  t.same(faults, [])
  // The test is only meaningful with load and interrupted requests.
  t.ok(acknowledged > 4 * kills, `${acknowledged} runs were acknowledged`)
  t.ok(repeated > 0, `${repeated} requests were repeated`)
})
