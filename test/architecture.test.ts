import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, normalize, relative } from 'node:path'
import t from 'tap'

/** The layers, lowest first. A file may import only from its own layer and lower ones. */
const layers = [
  'schemas/',
  'projections/',
  'src/domain/',
  'src/ports/',
  'src/time/',
  'src/flow/',
  'src/json/',
  'src/studio/',
  'src/adapters/',
  'src/engine/',
  'src/services/',
  'src/audit/',
  'src/reactors/',
  'src/transports/',
  'src/console/',
  'src/http/',
  'src/mcp/',
  'src/catalog/',
  'src/boot/config.ts',
  'src/boot/config-values.ts',
  'src/boot/read-brand.ts',
  'src/boot/read-packs.ts',
  'src/boot/secret-files.ts',
  'src/boot/read-config.ts',
  'src/boot/apply-mark-up.ts',
  'src/boot/master-secret.ts',
  'src/boot/stores.ts',
  'src/boot/projections.ts',
  'src/boot/projector-thread.ts',
  'src/boot/telemetry.ts',
  'src/boot/core.ts',
  'src/boot/providers.ts',
  'src/boot/alerts.ts',
  'src/boot/sealing.ts',
  'src/boot/sign-in.ts',
  'src/boot/watched-state.ts',
  'src/boot/compose.ts',
  'src/boot/',
  'src/cli/',
  // The entry points.
  'src/',
]

/** Vendors that only one file imports, so they can be replaced. */
const importedByOneFile = [
  ...['lmdb', 'pino', 'pino-pretty', 'piscina', 'safe-stable-stringify', 'typeid-js', 'microdiff'],
  ...['minio', 'csv-stringify', 'file-type', 'range-parser', '@fastify/busboy', 'ioredis'],
  ...['rate-limiter-flexible', 'prom-client', '@opentelemetry/api'],
  ...['h264-mp4-encoder', 'wasm-media-encoders', 'image-size'],
]

/** Vendors that only some folders import. Their types may be imported anywhere. */
const importedByFolder: Record<string, string[]> = {
  typebox: ['schemas/'],
  immutable: ['src/domain/', 'src/services/accounts/account-mailboxes.ts'],
  ajv: ['src/engine/log/codec.ts', 'src/services/schema-check.ts'],
  rxjs: ['src/time/', 'src/engine/', 'src/services/', 'src/reactors/'],
  'ipaddr.js': ['src/adapters/outbound/', 'src/services/accounts/key-addresses.ts'],
  'p-limit': ['src/adapters/event-log/eventstoredb/', 'src/services/seals/', 'src/cli/backup/'],
  '@napi-rs/canvas': ['src/studio/', 'src/audit/statement/pdf/'],
  undici: ['src/adapters/outbound/'],
  openai: ['src/adapters/provider/openai/'],
  '@google/genai': ['src/adapters/provider/google/'],
  replicate: ['src/adapters/provider/replicate/'],
  stripe: ['src/adapters/payments/'],
  standardwebhooks: ['src/services/webhooks/'],
  '@fal-ai/client': ['src/adapters/provider/fal/'],
  koa: ['src/http/'],
  'koa-body': ['src/http/'],
  'koa-compose': ['src/http/'],
  '@koa/router': ['src/http/'],
  '@eventstore/db-client': ['src/adapters/event-log/eventstoredb/'],
  '@grpc/grpc-js': ['src/adapters/event-log/eventstoredb/'],
  'google-protobuf': ['src/adapters/event-log/eventstoredb/'],
  '@modelcontextprotocol/server': ['src/mcp/'],
  '@modelcontextprotocol/node': ['src/mcp/'],
  commander: ['src/cli/'],
  '@bomb.sh/tab': ['src/cli/'],
  nodemailer: ['src/adapters/mailer/'],
  'openid-client': ['src/adapters/identity-provider/'],
  // The names of Preact in package.json.
  '#jsx': ['src/console/'],
  '#render': ['src/console/'],
  '#preact': ['src/console/'],
  'markdown-it': ['src/console/docs/'],
  minisearch: ['src/http/routes/console/docs-sections.ts'],
  pdfkit: ['src/audit/statement/pdf/'],
}

/** Vendors that take long to load and that many processes never need. */
const loadedLate = [
  ...['@modelcontextprotocol/server', '@modelcontextprotocol/node', 'pdfkit', 'undici', 'nodemailer', 'openid-client'],
  ...['openai', '@google/genai', 'replicate', '@fal-ai/client', 'prom-client', '@opentelemetry/api'],
  'stripe',
]

interface Import {
  file: string
  /** The path of our own file from the root, or the name of a package or Node.js module. */
  target: string
  isOurs: boolean
  isType: boolean
  /** Whether it is loaded when the code runs instead of at the start. */
  isLate: boolean
}

const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true })).filter(name => /\.tsx?$/.test(name)).map(name => join(folder, name))

const importsOf = (file: string, text: string): Import[] =>
  [...text.matchAll(/(?:^|\n)(?:import|export) (type )?(?:[^'";]*? from )?'([^']+)'|\bimport\('([^']+)'\)/g)].map(
    match => {
      const [, type, named, dynamic] = match
      const target = (named ?? dynamic) as string
      const isOurs = target.startsWith('.')
      const parts = target.split('/')
      const vendor = target.startsWith('node:') ? target : parts.slice(0, target.startsWith('@') ? 2 : 1).join('/')
      const path = isOurs ? relative('.', normalize(join(dirname(file), target))) : vendor
      return { file, target: path, isOurs, isType: type !== undefined, isLate: dynamic !== undefined }
    },
  )

const files = (await Promise.all(['schemas', 'projections', 'src'].map(filesIn))).flat()
const sources = new Map(await Promise.all(files.map(async file => [file, await readFile(file, 'utf8')] as const)))
const imports = [...sources].flatMap(([file, text]) => importsOf(file, text))
const vendors = imports.filter(({ isOurs, target }) => !isOurs && !target.startsWith('node:'))

/** The source without comments. */
const codeOf = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')

const EXAMPLES = 'schemas/api/examples.json'

const layerOf = (file: string) => layers.findIndex(layer => file.startsWith(layer))
const show = ({ file, target }: Import) => `${file} imports ${target}`

t.test('imports are found', async t => {
  t.ok(files.length > 80)
  t.ok(imports.some(({ file, target }) => file === 'src/engine/log/codec.ts' && target === 'schemas/recorded.ts'))
  t.ok(imports.some(({ file, target }) => file === 'src/adapters/lmdb/environment.ts' && target === 'lmdb'))
  t.same(
    imports.filter(({ isOurs, target }) => isOurs && !sources.has(target) && target !== EXAMPLES).map(show),
    [],
    'own imports name a file with its extension',
  )
})

t.test('imports go down the layers', async t => {
  const upwards = imports.filter(({ file, target, isOurs }) => isOurs && layerOf(target) > layerOf(file))
  t.same(upwards.map(show), [])
})

t.test('there are no import cycles', async t => {
  const targets = new Map<string, string[]>()
  for (const { file, target, isOurs } of imports) if (isOurs) targets.set(file, [...(targets.get(file) ?? []), target])
  const done = new Set<string>()
  const cycles: string[] = []
  const walk = (file: string, path: string[]) => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' → '))
    if (path.includes(file) || done.has(file)) return
    for (const target of targets.get(file) ?? []) walk(target, [...path, file])
    done.add(file)
  }
  for (const file of files) walk(file, [])
  t.same(cycles, [])
})

t.test('the engine uses no Tollgate terms', async t => {
  const machinery = [
    'schemas/recorded.ts',
    'schemas/names.ts',
    'projections/projection.ts',
    'src/domain/decider.ts',
    'src/domain/digest.ts',
    'src/ports/',
    'src/time/',
    'src/flow/cache-limit.ts',
    'src/engine/',
  ]
  const strays = imports.filter(
    ({ file, target, isOurs }) =>
      file.startsWith('src/engine/') && isOurs && !machinery.some(place => target.startsWith(place)),
  )
  t.same(strays.map(show), [])

  const nouns = /\b\w*(account|apikey|credit|upload|webhook|receipt|catalog|RunId|RunRow)\w*\b/i
  const named = [...sources].flatMap(([file, text]) => {
    const match = file.startsWith('src/engine/') ? nouns.exec(codeOf(text)) : null
    return match ? [`${file}: ${match[0]}`] : []
  })
  t.same(named, [])
})

t.test('only the composition of the service imports adapters', async t => {
  const allowed = [
    ...[
      'stores',
      'core',
      'telemetry',
      'projector-thread',
      'projector-worker',
      'providers',
      'compose',
      'checks',
      'process',
    ],
  ].map(name => `src/boot/${name}.ts`)
  // The configuration imports the parsers of URLs and addresses, which live beside the adapters.
  const isReader = ({ file, target, isType }: Import) =>
    file.startsWith('src/boot/config') && (isType || /[/-](url|address)\.ts$/.test(target))
  // Backups copy the files of the stores.
  const others = imports.filter(
    each =>
      each.target.startsWith('src/adapters/') &&
      !each.file.startsWith('src/adapters/') &&
      !each.file.startsWith('src/cli/backup/') &&
      !allowed.includes(each.file) &&
      !isReader(each),
  )
  t.same(others.map(show), [])
})

t.test('only the sandbox provider imports the studio', async t => {
  const sandbox = 'src/adapters/provider/sandbox/'
  const others = imports.filter(
    ({ file, target }) => target.startsWith('src/studio/') && ![sandbox, 'src/studio/'].some(at => file.startsWith(at)),
  )
  t.same(others.map(show), [])
})

t.test('the command line does not import the other transports', async t => {
  const others = imports.filter(
    ({ file, target }) => /^src\/cli[./]/.test(file) && ['src/http/', 'src/mcp/'].some(at => target.startsWith(at)),
  )
  t.same(others.map(show), [])
})

t.test('src/ shows only folders, main.ts and cli.ts', async t => {
  const entries = (await readdir('src')).filter(name => name.includes('.'))
  t.same(entries.toSorted(), ['cli.ts', 'main.ts'])
})

t.test('an adapter imports only from lower layers and its own', async t => {
  const below = ['schemas/', 'src/domain/', 'src/ports/', 'src/time/', 'src/json/', 'src/studio/', 'src/adapters/']
  const others = imports.filter(
    ({ file, target, isOurs }) =>
      file.startsWith('src/adapters/') && isOurs && !below.some(folder => target.startsWith(folder)),
  )
  t.same(others.map(show), [])
})

/** What adapters of several ports share: the real time, and the clients of their stores. */
const sharedByAdapters = ['clock', 'lmdb', 'redis']

t.test('adapters of different ports do not import each other', async t => {
  const portOf = (file: string) => /^src\/adapters\/([^/]+)\//.exec(file)?.[1]
  const across = imports.filter(({ file, target }) => {
    const [from, to] = [portOf(file), portOf(target)]
    return from && to && from !== to && !sharedByAdapters.includes(to)
  })
  t.same(across.map(show), [])
})

/** The only file in the domain that imports a Node.js module. */
const DIGEST = 'src/domain/digest.ts'

t.test('the domain and the projections are pure', async t => {
  const isPure = (file: string) => ['schemas/', 'projections/', 'src/domain/'].some(layer => file.startsWith(layer))
  const foreign = imports.filter(
    ({ file, target, isOurs }) =>
      isPure(file) && !isOurs && !['typebox', 'immutable'].includes(target) && file !== DIGEST,
  )
  t.same(foreign.map(show), [], 'no Node.js modules, and no vendors except for types and collections')
  t.same(imports.filter(({ file, isOurs }) => file === DIGEST && !isOurs).map(show), [`${DIGEST} imports node:crypto`])
  t.match(sources.get(DIGEST), "import { hash } from 'node:crypto'", 'the digest is a pure function')

  const impure =
    /\b(Date\.now|new Date\(\)|Math\.random|performance\.|crypto\.|process\.|console\.|setTimeout|setInterval|fetch\(|await )/
  const found = [...sources].flatMap(([file, text]) => {
    const match = isPure(file) ? impure.exec(codeOf(text)) : null
    return match ? [`${file}: ${match[0]}`] : []
  })
  t.same(found, [], 'no clock, no randomness and no asynchrony')
})

t.test('npm checks each package that it installs', async t => {
  for (const lock of ['package-lock.json', 'test/outside/package-lock.json']) {
    const { packages } = JSON.parse(await readFile(lock, 'utf8')) as {
      packages: Record<string, { integrity?: string }>
    }
    const unchecked = Object.entries(packages).filter(([path, { integrity }]) => path !== '' && !integrity)
    t.same(unchecked, [], lock)
  }
})

t.test('replaceable vendors are imported by one file', async t => {
  for (const vendor of importedByOneFile) {
    const importers = new Set(vendors.filter(({ target }) => target === vendor).map(({ file }) => file))
    t.equal(importers.size, 1, `${vendor}: ${[...importers].join(', ') || 'no importer'}`)
  }
})

t.test('other vendors are imported only in their folders', async t => {
  for (const [vendor, places] of Object.entries(importedByFolder)) {
    const strays = vendors.filter(
      ({ file, target, isType }) => target === vendor && !isType && !places.some(place => file.startsWith(place)),
    )
    t.same(strays.map(show), [], `${vendor} belongs to ${places.join(' and ')}`)
  }
})

t.test('vendors that many processes never need do not slow the start', async t => {
  const begun = new Set(['src/main.ts', 'src/boot/server.ts', 'src/cli.ts'])
  // The code of each command is loaded when it is named.
  for (const file of begun)
    for (const { target, isOurs, isType, isLate } of imports.filter(each => each.file === file))
      if (isOurs && !isType && (!isLate || file === 'src/cli/program.ts')) begun.add(target)
  for (const file of ['src/mcp/endpoint.ts', 'src/cli/audit/statement.ts']) t.ok(begun.has(file), `${file} is found`)
  const early = vendors.filter(each => begun.has(each.file) && !each.isType && !each.isLate)
  t.same(early.filter(({ target }) => loadedLate.includes(target)).map(show), [])
})

t.test("of EventStoreDB's package only the generated stubs are used, not its client", t => {
  const others = [...sources].filter(([, text]) => /from '@eventstore\/db-client(?!\/generated\/)/.test(text))
  t.same(
    others.map(([file]) => file),
    [],
  )
  t.end()
})

t.test('every vendor is a runtime dependency, unless only its types are used', async t => {
  const { dependencies, devDependencies } = JSON.parse(await readFile('package.json', 'utf8'))
  const others = vendors.filter(
    ({ target, isType }) =>
      !target.startsWith('#') && !(target in dependencies) && !(isType && target in devDependencies),
  )
  t.same(others.map(show), [])
})
t.test('time and randomness come from ports', async t => {
  const rooms = [
    'projections/',
    'src/domain/',
    'src/ports/',
    'src/time/',
    'src/engine/',
    'src/services/',
    'src/audit/',
    'src/reactors/',
  ]
  const globals =
    /\b(performance|setTimeout|setInterval|setImmediate|queueMicrotask|randomUUID|randomBytes|getRandomValues|node:timers.*)\b|Math\.random|Date\.now|new Date\(\)|AbortSignal\.timeout|\b(asyncScheduler|asapScheduler)\b/
  const strays = [...sources].filter(([file]) => rooms.some(room => file.startsWith(room)))
  t.same(
    strays.flatMap(([file, text]) => (codeOf(text).match(globals) ? [file] : [])),
    [],
  )
})

t.test('no line is longer than the formatter allows', async t => {
  const { formatter } = JSON.parse(await readFile('biome.json', 'utf8'))
  const long = [...sources].flatMap(([file, text]) =>
    text.split('\n').flatMap((line, at) => (line.length > formatter.lineWidth ? [`${file}:${at + 1}`] : [])),
  )
  t.same(long, [])
})
