import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { tsImport } from 'tsx/esm/api'
import type { Run } from '../../schemas/api/run.ts'
import { needsOutside, outsideProgram } from '../support/outside.ts'
import { openAccount, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const run = promisify(execFile)

/** Generators of TypeScript clients, and a program that runs a model with the client and sends what must not compile. */
const generators = {
  'hey-api': {
    args: ['-i', 'openapi.json', '-o', 'client', '-c', '@hey-api/client-fetch', '--no-log-file'],
    program: `
import { createClient, createConfig } from './client/client'
import { runModel } from './client/sdk.gen'
import type { RunRequest } from './client/types.gen'
export const answer = async (baseUrl: string, auth: string): Promise<unknown> => {
  const client = createClient(createConfig({ baseUrl, auth }))
  const { data } = await runModel({ client, body: { model: 'nano', input: { prompt: 'a lake', safety_tolerance: '2' } } })
  return data
}`,
  },
  orval: {
    args: ['--config', 'orval.config.mjs'],
    program: `
import { runModel } from './client'
import type { RunRequest } from './model'
export const answer = async (_: string, key: string): Promise<unknown> => {
  const headers = { Authorization: 'Bearer ' + key, 'Content-Type': 'application/json' }
  const body: RunRequest = { model: 'nano', input: { prompt: 'a lake', safety_tolerance: '2' } }
  const { status, data } = await runModel(body, undefined, { headers })
  return status === 200 ? data : undefined
}`,
  },
} as const

/** The compiler reports marks without an error. */
const misuse = `
export const edit: RunRequest = { model: 'nano-banana-2-i2i', input: { prompt: 'a', image_url: 'https://a.example/b' } }
// @ts-expect-error there is no such model
export const model: RunRequest = { model: 'nano-banana-3', input: { prompt: 'a lake' } }
// @ts-expect-error there is no such value
export const value: RunRequest = { model: 'nano-banana-2', input: { prompt: 'a lake', resolution: '8K' } }
`

const compilerOptions = {
  ...{ strict: true, noEmit: true, target: 'es2022', module: 'esnext', moduleResolution: 'bundler' },
  ...{ lib: ['es2022', 'dom', 'dom.iterable'], types: [] },
}

const service = await startService(t)
const customer = await openAccount(service)

const folderWithDocument = async (t: Test): Promise<string> => {
  const folder = await temporaryFolder(t)
  await writeFile(join(folder, 'openapi.json'), (await customer.send('/v1/openapi.json')).text)
  return folder
}

for (const [name, { args, program }] of Object.entries(generators))
  t.test(`a client by ${name} compiles and runs a model`, needsOutside(name as keyof typeof generators), async t => {
    const folder = await folderWithDocument(t)
    const output = { target: 'client.ts', schemas: 'model', client: 'fetch', baseUrl: service.client().url }
    const config = { tollgate: { input: { target: 'openapi.json' }, output } }
    await writeFile(join(folder, 'orval.config.mjs'), `export default ${JSON.stringify(config)}`)
    await writeFile(join(folder, 'program.ts'), program + misuse)
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['**/*.ts'] }))
    const [node, script] = outsideProgram(name as keyof typeof generators)
    const { stdout, stderr } = await run(node, [script, ...args], { cwd: folder })
    t.notMatch(stdout + stderr, /warn|error/i)
    const compiled = await run('node_modules/.bin/tsc', ['-p', folder]).catch((failed: { stdout: string }) => failed)
    t.equal(compiled.stdout, '')

    const { answer } = await tsImport(join(folder, 'program.ts'), import.meta.url)
    const { run_id } = await answer(service.client().url, customer.apiKey)
    const { body } = await customer.send<Run>(`/v1/runs/${run_id}`)
    t.match(body, { status: 'completed', endpoint: 'nano-banana-2-t2i' })
  })

t.test('Spectral reports no problems', needsOutside('spectral'), async t => {
  const folder = await folderWithDocument(t)
  await writeFile(join(folder, 'rules.json'), JSON.stringify({ extends: ['spectral:oas'] }))
  const [node, script] = outsideProgram('spectral')
  const command = [script, 'lint', 'openapi.json', '--ruleset', 'rules.json', '--format', 'json', '--quiet']
  const { stdout } = await run(node, command, { cwd: folder }).catch((failed: { stdout: string }) => failed)
  t.same(JSON.parse(stdout), [])
})
