import t from 'tap'
import { crash } from './crash.ts'

t.setTimeout(280_000)

const kills = 25
const seed = Date.now() % 1_000_000

// The same again by hand: node --import=tsx test/simulation/crash.ts --kills 25 --seed SEED
t.test(`a service that is killed again and again loses nothing, and doubles nothing (seed ${seed})`, async t => {
  const { acknowledged, repeated, faults } = await crash({ kills, seed })
  t.same(faults, [])
  // Without load, or without a request that a kill cut off, nothing would have been tried.
  t.ok(acknowledged > 100, `${acknowledged} runs were acknowledged`)
  t.ok(repeated > 0, `${repeated} requests were repeated`)
})
