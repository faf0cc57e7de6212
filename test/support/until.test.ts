import t from 'tap'
import { until, withDeadline } from './until.ts'

t.test('the awaited value is returned', async t => {
  let count = 0
  t.equal(await until('the third look', () => ++count === 3 && 'found'), 'found')
  t.equal(count, 3)
})

t.test('a condition that never holds is named at the deadline, and no longer polled', async t => {
  let count = 0
  const never = () => ++count < 0
  await t.rejects(until('pigs fly', never, { maxWaitMs: 50 }), { message: 'waited 50 ms in vain until pigs fly' })
  const polled = count
  await new Promise(resolve => setTimeout(resolve, 50))
  t.ok(count <= polled + 1, `${count} polls, of which ${polled} before the deadline`)
})

t.test('a look that hangs ends at the deadline', async t => {
  const hang = () => new Promise<boolean>(() => undefined)
  await t.rejects(until('an answer arrives', hang, { maxWaitMs: 50 }), /until an answer arrives/)
})

t.test('a look that fails ends the wait', async t => {
  const fail = () => Promise.reject(new Error('no connection'))
  await t.rejects(until('an answer arrives', fail), { message: 'no connection' })
})

t.test('a promise that is settled in time keeps its outcome', async t => {
  t.equal(await withDeadline('a value', Promise.resolve(7)), 7)
  await t.rejects(withDeadline('a value', Promise.reject(new Error('no'))), { message: 'no' })
})
