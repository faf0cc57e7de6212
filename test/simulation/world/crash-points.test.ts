import t from 'tap'
import { CRASH_EVERY, TEST_TIMEOUT_MS } from '../../support/test-length.ts'
import { type Faults, noFaults } from './faults.ts'
import { World, type WorldOptions } from './world.ts'

t.setTimeout(TEST_TIMEOUT_MS)

/** Two processes and one client, which hears texts to their ends, leaves and cancels them. */
const worldOf = (seed: number, options: Partial<WorldOptions> = {}) =>
  new World({
    ...{ seed, processes: 2, clients: 1, busyMs: 2_000 },
    ...{ commands: ['talk', 'repeat', 'cancel'], without: Object.keys(noFaults) as (keyof Faults)[] },
    ...options,
  }).live()

for (const seed of [42, 47])
  t.test(`a process may crash at any step while texts arrive: seed ${seed}`, async t => {
    const { busySteps, counts, violations } = await worldOf(seed)
    t.same(violations, [])
    for (const what of ['text heard', 'text cut off', 'listener leaves', 'listener cancels', 'CreditsReleased'])
      t.ok(counts.has(what), what)
    let crashes = 0
    for (let crashAt = 1; crashAt <= busySteps; crashAt += CRASH_EVERY) {
      const { violations, counts } = await worldOf(seed, { crashAt })
      t.same(violations, [], `after step ${crashAt}`)
      crashes += counts.get('crash') ?? 0
    }
    t.equal(crashes, Math.ceil(busySteps / CRASH_EVERY))
  })
