import t, { type Test } from 'tap'
import { needsPrograms, skipUnlessCi } from './needs.ts'

const withCi = (t: Test, value: string) => {
  const before = process.env['CI']
  t.teardown(() => {
    process.env['CI'] = before ?? ''
  })
  process.env['CI'] = value
}

t.test('a test whose program is missing is skipped and names it', async t => {
  withCi(t, '')
  t.same(needsPrograms('node', 'no-such-program'), { skip: 'not installed: no-such-program' })
  t.same(needsPrograms('node'), { skip: false })
  t.same(skipUnlessCi(false), { skip: false })
})

t.test('in CI, nothing is skipped', async t => {
  withCi(t, '1')
  t.same(needsPrograms('no-such-program'), { skip: false })
})
