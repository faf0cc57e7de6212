import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import t from 'tap'
import { needsOutside, outsideProgram } from '../support/outside.ts'
import { openAccount, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { isLong } from '../support/test-length.ts'
import { startKeyedFront } from './keyed-front.ts'
import { revisions } from './support.ts'

const notApplicable = (revision: string) => resolve(`test/mcp/not-applicable/${revision}.yml`)

/** Runs the official suite against a server and returns its exit code and output. */
const runSuite = (url: string, revision: string, folder: string): Promise<{ code: unknown; text: string }> =>
  new Promise(resolve => {
    const [node, script] = outsideProgram('conformance')
    const args = ['--url', `${url}/mcp`, '--requirements', revision, '--expected-failures', notApplicable(revision)]
    execFile(node, [script, 'server', ...args, '-o', folder], (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, text: stdout + stderr }),
    )
  })

interface Check {
  id: string
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
}

/** The check results of all scenarios. */
const checksIn = async (folder: string): Promise<Check[]> => {
  const files = (await readdir(folder, { recursive: true })).filter(name => name.endsWith('checks.json'))
  return (await Promise.all(files.map(async file => JSON.parse(await readFile(join(folder, file), 'utf8'))))).flat()
}

// The short form runs the suite for the newest one.
for (const revision of revisions.slice(isLong ? 0 : -1))
  t.test(`the service passes the official suite for ${revision}`, needsOutside('conformance'), async t => {
    const front = await startKeyedFront(t)
    const service = await startService(t, { environment: { ALLOWED_ORIGINS: front.origins.join() } })
    front.leadTo(await openAccount(service))
    const folder = await temporaryFolder(t)

    const { code, text } = await runSuite(front.url, revision, folder)
    t.equal(code, 0, 'all applicable scenarios pass', { text })
    const passed = (await checksIn(folder)).filter(({ status }) => status === 'SUCCESS').map(({ id }) => id)
    t.comment(`${passed.length} checks passed`)
    t.ok(passed.includes('tools-list') || passed.length > 10, 'the suite ran checks', { passed })
  })
