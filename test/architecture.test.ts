import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, normalize, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

/** The tree from its foundation up. A file imports from its own layer and those below, never from above. */
const layers = [
  'schemas/',
  'projections/',
  'src/domain/',
  'src/ports/',
  'src/studio/',
  'src/adapters/',
  'src/engine/',
  'src/services/',
  'src/reactors/',
  'src/http/',
  'src/mcp/',
  'src/catalog/',
  'src/boot/config.ts',
  'src/boot/master-secret.ts',
  'src/boot/stores.ts',
  'src/boot/core.ts',
  'src/boot/compose.ts',
  // Starting and stopping, how a failure reads, and the command line.
  'src/',
]

/** Vendors that one file keeps to itself, so that another can take their place. */
const keptByOne = [
  ...['lmdb', 'pino', 'piscina', 'safe-stable-stringify', 'typeid-js', 'cli-table3', 'microdiff', 'undici'],
  ...['minio', 'file-type', 'range-parser', '@fastify/busboy', 'ioredis'],
  ...['ipaddr.js', 'standardwebhooks', 'better-sse', 'h264-mp4-encoder', 'wasm-media-encoders', 'image-size'],
]

/** Vendors that belong to some parts of the tree, whose own language they are. Their types may be named anywhere. */
const keptByFolder: Record<string, string[]> = {
  typebox: ['schemas/'],
  immutable: ['src/domain/', 'src/services/accounts/snapshots.ts'],
  ajv: ['src/engine/validator.ts'],
  rxjs: ['src/engine/', 'src/services/', 'src/reactors/'],
  'p-limit': ['src/reactors/', 'src/adapters/event-log/eventstoredb/'],
  '@napi-rs/canvas': ['src/studio/'],
  koa: ['src/http/'],
  'koa-body': ['src/http/'],
  '@koa/router': ['src/http/'],
  '@eventstore/db-client': ['src/adapters/event-log/eventstoredb/'],
  '@grpc/grpc-js': ['src/adapters/event-log/eventstoredb/'],
  'google-protobuf': ['src/adapters/event-log/eventstoredb/'],
  '@modelcontextprotocol/server': ['src/mcp/'],
  '@modelcontextprotocol/node': ['src/mcp/'],
  commander: ['src/cli.ts', 'src/cli/'],
}

interface Import {
  file: string
  /** A path from the root for a file of ours; else the name of the package, or of the Node.js module. */
  target: string
  isOurs: boolean
  isType: boolean
}

const root = fileURLToPath(new URL('..', import.meta.url))

const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(join(root, folder), { recursive: true }))
    .filter(name => name.endsWith('.ts'))
    .map(name => join(folder, name))

const importsOf = (file: string, text: string): Import[] =>
  [...text.matchAll(/(?:^|\n)(?:import|export) (type )?(?:[^'";]*? from )?'([^']+)'|\bimport\('([^']+)'\)/g)].map(
    match => {
      const [, type, named, dynamic] = match
      const target = (named ?? dynamic) as string
      const isOurs = target.startsWith('.')
      const parts = target.split('/')
      const vendor = target.startsWith('node:') ? target : parts.slice(0, target.startsWith('@') ? 2 : 1).join('/')
      const path = isOurs ? relative('.', normalize(join(dirname(file), target))) : vendor
      return { file, target: path, isOurs, isType: type !== undefined }
    },
  )

const files = (await Promise.all(['schemas', 'projections', 'src'].map(filesIn))).flat()
const sources = new Map(
  await Promise.all(files.map(async file => [file, await readFile(join(root, file), 'utf8')] as const)),
)
const imports = [...sources].flatMap(([file, text]) => importsOf(file, text))
const vendors = imports.filter(({ isOurs, target }) => !isOurs && !target.startsWith('node:'))

const layerOf = (file: string) => layers.findIndex(layer => file.startsWith(layer))
const show = ({ file, target }: Import) => `${file} imports ${target}`

t.test('the imports are found at all', async t => {
  t.ok(files.length > 80)
  t.ok(imports.some(({ file, target }) => file === 'src/engine/log/codec.ts' && target === 'schemas/recorded.ts'))
  t.ok(imports.some(({ file, target }) => file === 'src/adapters/lmdb.ts' && target === 'lmdb'))
  t.same(
    imports.filter(({ isOurs, target }) => isOurs && !sources.has(target)).map(show),
    [],
    'each of ours is a file, with its ending',
  )
})

t.test('imports run one way', async t => {
  const upwards = imports.filter(({ file, target, isOurs }) => isOurs && layerOf(target) > layerOf(file))
  t.same(upwards.map(show), [])
})

t.test('no imports run in a circle', async t => {
  const targets = new Map<string, string[]>()
  for (const { file, target, isOurs } of imports) if (isOurs) targets.set(file, [...(targets.get(file) ?? []), target])
  const done = new Set<string>()
  const circles: string[] = []
  const walk = (file: string, path: string[]) => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '))
    if (path.includes(file) || done.has(file)) return
    for (const target of targets.get(file) ?? []) walk(target, [...path, file])
    done.add(file)
  }
  for (const file of files) walk(file, [])
  t.same(circles, [])
})

t.test('only what composes the service names adapters', async t => {
  const allowed = ['src/boot/stores.ts', 'src/boot/core.ts', 'src/boot/compose.ts']
  // The configuration reads addresses, and the reader of a store's address lies beside its adapter.
  const isReader = ({ file, target, isType }: Import) =>
    file === 'src/boot/config.ts' && (isType || /(^|[/-])url\.ts$/.test(target))
  const others = imports.filter(
    each =>
      each.target.startsWith('src/adapters/') &&
      !each.file.startsWith('src/adapters/') &&
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

t.test('src/ shows only folders, main.ts and cli.ts', async t => {
  const entries = (await readdir(join(root, 'src'))).filter(name => name.includes('.'))
  t.same(entries.toSorted(), ['cli.ts', 'main.ts'])
})

t.test('an adapter knows its port, and of the rest shapes at the most', async t => {
  const below = ['schemas/', 'src/domain/', 'src/ports/', 'src/studio/', 'src/adapters/']
  const others = imports.filter(
    ({ file, target, isOurs }) =>
      file.startsWith('src/adapters/') && isOurs && !below.some(folder => target.startsWith(folder)),
  )
  t.same(others.map(show), [])
})

t.test('adapters of one port know nothing of another', async t => {
  const portOf = (file: string) => /^src\/adapters\/([^/]+)\//.exec(file)?.[1]
  const across = imports.filter(({ file, target }) => {
    const [from, to] = [portOf(file), portOf(target)]
    return from && to && from !== to
  })
  t.same(across.map(show), [])
})

t.test('the domain and the projections are pure', async t => {
  const isPure = (file: string) => ['schemas/', 'projections/', 'src/domain/'].some(layer => file.startsWith(layer))
  const foreign = imports.filter(
    ({ file, target, isOurs }) => isPure(file) && !isOurs && !['typebox', 'immutable'].includes(target),
  )
  t.same(foreign.map(show), [], 'no module of Node.js, and no vendor but for types and collections')

  const impure =
    /\b(Date\.now|new Date\(\)|Math\.random|performance\.|crypto\.|process\.|console\.|setTimeout|setInterval|fetch\(|await )/
  const found = [...sources].flatMap(([file, text]) => {
    const match = isPure(file) ? impure.exec(text) : null
    return match ? [`${file}: ${match[0]}`] : []
  })
  t.same(found, [], 'no clock, no chance, and nothing that waits')
})

t.test('a vendor is kept by one file where another may take its place', async t => {
  for (const vendor of keptByOne) {
    const importers = new Set(vendors.filter(({ target }) => target === vendor).map(({ file }) => file))
    t.equal(importers.size, 1, `${vendor}: ${[...importers].join(', ') || 'nobody'}`)
  }
})

t.test('other vendors stay in their part of the tree', async t => {
  for (const [vendor, places] of Object.entries(keptByFolder)) {
    const strays = vendors.filter(
      ({ file, target, isType }) => target === vendor && !isType && !places.some(place => file.startsWith(place)),
    )
    t.same(strays.map(show), [], `${vendor} belongs to ${places.join(' and ')}`)
  }
})

t.test("of EventStoreDB's package only the generated stubs are used, not its client", t => {
  const others = [...sources].filter(([, text]) => /from '@eventstore\/db-client(?!\/generated\/)/.test(text))
  t.same(
    others.map(([file]) => file),
    [],
  )
  t.end()
})

t.test('every vendor is a dependency at run time', async t => {
  const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const others = vendors.filter(({ target }) => !(target in dependencies))
  t.same(others.map(show), [])
})
