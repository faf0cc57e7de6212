import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verifyWithWorkers } from '../../../src/cli/audit/verify-workers.ts'
import { logOf } from '../../support/log-of.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { withDeadline } from '../../support/until.ts'

/** Verifies an empty log with two workers. The program of the second one is a script. */
const verifyWith = async (t: Test, script: string | undefined) => {
  const program = join(await temporaryFolder(t), 'program.mjs')
  if (script !== undefined) await writeFile(program, script)
  const options = { workers: 2, file: undefined, isDense: true, program }
  return withDeadline('the verification ends', verifyWithWorkers(logOf([]), options))
}

const findings = { found: [], foundAtEnd: [], lost: [], logins: [], lacksAccount: false, newestAt: '', unsealed: 0 }
const answer = (report: object) =>
  `process.once('message', () => process.send(${JSON.stringify(report)}, () => process.disconnect()))`

t.test('the findings of both workers are put together', async t => {
  const empty = { ...findings, read: 0, events: 0, streams: 0 }
  t.match(await verifyWith(t, answer({ findings: empty })), { events: 0, faults: [], notes: [] })
})

const UNFIT: Record<string, { script?: string; told: RegExp }> = {
  'ends early': { script: 'process.exit(3)', told: /^A worker ended with 3 before .* try again with --workers 1\.$/ },
  'ends as if all was well': { script: '', told: /^A worker ended with 0 before/ },
  'is killed': {
    script: `process.once('message', () => process.kill(process.pid, 'SIGKILL'))`,
    told: /^A worker ended with SIGKILL before/,
  },
  'is missing': { told: /^A worker ended with 1 before/ },
  'cannot look': { script: answer({ failure: 'No log.' }), told: /^No log\.$/ },
}

for (const [name, { script, told }] of Object.entries(UNFIT))
  t.test(`a worker that ${name} is no clean log: the exit code is 2`, async t => {
    await t.rejects(verifyWith(t, script), { name: 'OperatorError', exitCode: 2, message: told })
  })

t.test('a worker that has read another log than the first one is noticed', async t => {
  const other = { ...findings, read: 5, events: 5, streams: 1 }
  await t.rejects(verifyWith(t, answer({ findings: other })), { name: 'Damaged', message: /the log changed/ })
})
