import { readFile } from 'node:fs/promises'
import t from 'tap'

interface Package {
  version: string
  license?: string
  integrity?: string
  dev?: boolean
  optional?: boolean
  devOptional?: boolean
  hasInstallScript?: boolean
}

const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as { packages: Record<string, Package> }
const { '': _, ...installed } = packages
const production = Object.entries(installed).filter(([, { dev }]) => !dev)

const ALLOWED = [
  ...['MIT', 'MIT-0', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', '0BSD', 'BlueOak-1.0.0', 'PSF-2.0'],
  // Public domain, and fonts.
  ...['CC0-1.0', 'Unlicense', 'OFL-1.1'],
]

/** Packages that name their licence in a file only. */
const UNNAMED: Record<string, string> = { 'node_modules/png-js': 'MIT' }

/** Packages whose install scripts are known to be unnecessary. */
const WITH_SCRIPTS = ['@google/genai', 'esbuild', 'lmdb', 'msgpackr-extract', 'protobufjs']

t.test('the number of production packages is the one that was decided', async t => {
  const decision = await readFile('docs/decisions/0044-production-packages.md', 'utf8')
  const [, all, named] = /\b(\d+) packages\*\*, of which (\d+) are named/.exec(decision) ?? []
  t.equal(production.filter(([, { optional, devOptional }]) => !optional && !devOptional).length, Number(all))
  const { dependencies } = JSON.parse(await readFile('package.json', 'utf8'))
  t.equal(Object.keys(dependencies).length, Number(named))
})

t.test('every production package has a permissive licence', async t => {
  for (const [path, { license = UNNAMED[path] ?? 'none' }] of production)
    for (const each of license.replaceAll(/[()]/g, '').split(/ (?:AND|OR) /))
      t.ok(ALLOWED.includes(each), `${path}: ${license}`)
})

t.test('no further package has an install script, and none runs', async t => {
  const scripted = Object.entries(installed).filter(([, { hasInstallScript }]) => hasInstallScript)
  t.same(
    scripted.map(([path]) => path.replace(/^.*node_modules\//, '')),
    WITH_SCRIPTS,
  )
  for (const file of ['Dockerfile', '.ci/run', '.github/workflows/ci.yml', 'README.md', 'CONTRIBUTING.md'])
    for (const [command] of (await readFile(file, 'utf8')).matchAll(/npm (?:ci|prune) .*|npm ci$/gm))
      t.match(command, '--ignore-scripts', `${file}: ${command}`)
})

t.test('every package is held to its content', async t => {
  for (const [path, { integrity }] of Object.entries(installed)) t.match(integrity, /^sha512-/, path)
})
