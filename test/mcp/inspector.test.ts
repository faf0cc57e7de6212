import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { CallToolResult, Tool } from '@modelcontextprotocol/client'
import t from 'tap'
import type { Run } from '../../schemas/api/run.ts'
import { tools } from '../../src/mcp/tools.ts'
import { picture } from '../support/client.ts'
import { needsOutside, outsideProgram } from '../support/outside.ts'
import { openAccounts } from '../support/service.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const eras = ['legacy', 'modern']

t.test('the official inspector lists the tools and runs a model', needsOutside('inspector'), async t => {
  const [folder, home] = [await temporaryFolder(t), await temporaryFolder(t)]
  const [{ apiKey }] = await openAccounts(folder, {})
  const { url } = await startServiceProcess(t, folder)

  /** Runs the inspector on the command line. */
  const inspect = async <Result>(era: string, ...args: string[]): Promise<Result> => {
    const [node, script] = outsideProgram('inspector')
    const key = ['--header', `Authorization: Bearer ${apiKey}`]
    const to = ['--cli', `${url}/mcp`, '--transport', 'http', '--protocol-era', era, '--format', 'json', ...key]
    const env = { PATH: process.env['PATH'] ?? '', HOME: home }
    const { stdout } = await promisify(execFile)(node, [script, ...to, ...args], { env })
    return JSON.parse(stdout).result
  }

  for (const era of eras) {
    const { tools: listed } = await inspect<{ tools: Tool[] }>(era, '--method', 'tools/list', '--strict')
    t.same(
      listed.map(({ name }) => name),
      tools.map(({ name }) => name),
      'in strict mode the schemas are portable to every client',
    )

    const call = ['--method', 'tools/call', '--tool-name', 'run_model', '--tool-args-json', JSON.stringify(picture)]
    const { structuredContent, isError } = await inspect<CallToolResult>(era, ...call)
    t.notOk(isError)
    const run = structuredContent as unknown as Run
    t.equal(run.status, 'completed')
    const file = await fetch(String(run.output?.url))
    t.equal(file.headers.get('content-type'), 'image/png')
  }
})
