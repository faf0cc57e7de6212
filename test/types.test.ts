import { execFile } from 'node:child_process'
import t from 'tap'

// The whole project takes about ten seconds on a quiet machine.
t.setTimeout(240_000)

t.test('the types of the whole project are right', t => {
  // One checker takes half the processor time of the usual four, which repeat most of each other's work.
  execFile('npm', ['run', '-s', 'types'], (error, stdout) => {
    t.equal(stdout, '')
    t.notOk(error)
    t.end()
  })
})
