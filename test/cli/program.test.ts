import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { runProgram } from '../../src/cli/program.ts'
import { toRun } from '../support/program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

t.test('an audit that fails unexpectedly could not look, and so does not exit as if it had found a fault', async t => {
  const path = join(await temporaryFolder(t), 'log.jsonl')
  await writeFile(path, '')
  const told = t.capture(console, 'error')
  // As where a result is too long for a text.
  t.capture(console, 'log', () => {
    throw new RangeError('Invalid string length')
  })
  t.equal(await runProgram(['--as', 'olga', 'audit', 'verify', '--file', path]), 2)
  t.match(told(), [{ args: [/Invalid string length/] }])
})

t.test(
  'a command whose output is lost fails',
  { skip: !existsSync('/dev/full') && 'there is no /dev/full' },
  async t => {
    const command = toRun('src/cli.ts').join(' ')
    const run = (output: string) => spawnSync('sh', ['-c', `${command} --help ${output}`], { encoding: 'utf8' })
    t.match(run('> /dev/full'), { status: 2, stderr: /^The output cannot be written: ENOSPC/ })
    t.match(run('| true'), { status: 0, stderr: '' }, 'unless its reader left')
  },
)
