import t from 'tap'
import { crash } from './crash.ts'

t.setTimeout(280_000)

const kills = 25
const seed = Date.now() % 1_000_000

// Run manually: node --import=tsx test/simulation/crash.ts --kills 25 --seed SEED
t.test(`a service that is killed repeatedly loses and repeats nothing (seed ${seed})`, async t => {
  const { acknowledged, repeated, faults } = await crash({ kills, seed })
  t.same(faults, [])
  // The test is only meaningful with load and interrupted requests.
  t.ok(acknowledged > 100, `${acknowledged} runs were acknowledged`)
  t.ok(repeated > 0, `${repeated} requests were repeated`)
})
