import { execFile } from 'node:child_process'
import { copyFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { tsImport } from 'tsx/esm/api'
import { needsOutside, outsideProgram } from '../support/outside.ts'
import * as files from '../support/sample-files.ts'
import { openAccount, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const run = promisify(execFile)

/**
 * Generators of TypeScript clients, each with a program that uses the client as a customer does. The client of docs/ is of
 * another one.
 */
const generators = {
  'hey-api': {
    args: ['-i', 'openapi.json', '-o', 'client', '-c', '@hey-api/client-fetch', '--no-log-file'],
    program: 'hey-api.ts',
    // The code that it puts beside every client does not compile with it.
    options: { exactOptionalPropertyTypes: false },
  },
  orval: {
    args: ['--config', 'orval.config.mjs'],
    program: 'orval.ts',
    options: {},
  },
} as const

const compilerOptions = {
  ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true },
  ...{ noEmit: true, target: 'es2022', module: 'esnext', moduleResolution: 'bundler' },
  ...{ lib: ['es2022', 'dom', 'dom.iterable'], types: [] },
}

const service = await startService(t)
const anyone = await openAccount(service)

const folderWithDocument = async (t: Test): Promise<string> => {
  const folder = await temporaryFolder(t)
  await writeFile(join(folder, 'openapi.json'), (await anyone.send('/v1/openapi.json')).text)
  return folder
}

for (const [name, { args, program, options }] of Object.entries(generators))
  t.test(`a client by ${name} compiles and works`, needsOutside(name as keyof typeof generators), async t => {
    const folder = await folderWithDocument(t)
    const output = { target: 'client.ts', schemas: 'model', client: 'fetch', baseUrl: service.client().url }
    const config = { tollgate: { input: { target: 'openapi.json' }, output } }
    await writeFile(join(folder, 'orval.config.mjs'), `export default ${JSON.stringify(config)}`)
    const [node, script] = outsideProgram(name as keyof typeof generators)
    const { stdout, stderr } = await run(node, [script, ...args], { cwd: folder })
    t.notMatch(stdout + stderr, /warn|error/i)

    const tsconfig = { compilerOptions: { ...compilerOptions, ...options }, include: ['**/*.ts'] }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
    await copyFile(join('test/http/generated-clients', program), join(folder, program))
    await symlink(resolve('node_modules'), join(folder, 'node_modules'))
    const compiled = await run('node_modules/.bin/tsc', ['-p', folder]).catch((failed: { stdout: string }) => failed)
    t.equal(compiled.stdout, '')

    const customer = await openAccount(service)
    const lake = new File([await files.picture('png')], 'lake.png', { type: 'image/png' })
    const { walk } = await tsImport(join(folder, program), import.meta.url)
    const seen = await walk(service.client().url, customer.apiKey, lake)
    t.match(seen, {
      price: 10,
      first: { status: 'completed', endpoint: 'nano-banana-2-t2i', credits_charged: 10, output: { url: /\.png$/ } },
      isRepeated: true,
      sound: { status: 'completed', metadata: { order: 17 }, output: { url: /\.wav$/ } },
      film: { status: 'failed', error: { code: 'cancelled' } },
      winter: { status: 'completed', endpoint: 'nano-banana-2-i2i' },
      sentBytes: lake.size,
      secret: /^whsec_/,
      refusal: '/input/prompt',
      balance: await customer.balance(),
    })
    t.ok(seen.models.includes('nano-banana-2') && !seen.models.includes('gemini-omni-flash'))
    t.same(
      seen.completedIds,
      [seen.winter, seen.sound, seen.first].map(({ run_id }) => run_id),
    )
  })

t.test('Spectral reports no problems', needsOutside('spectral'), async t => {
  const folder = await folderWithDocument(t)
  await writeFile(join(folder, 'rules.json'), JSON.stringify({ extends: ['spectral:oas'] }))
  const [node, script] = outsideProgram('spectral')
  const command = [script, 'lint', 'openapi.json', '--ruleset', 'rules.json', '--format', 'json', '--quiet']
  const { stdout } = await run(node, command, { cwd: folder }).catch((failed: { stdout: string }) => failed)
  t.same(JSON.parse(stdout), [])
})
