import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type BuildOptions, build, type Plugin } from 'esbuild'

// Compiles the tests and the programs they run into dist/bundle. A service has more than a thousand modules, and loading
// them takes most of its start. In the bundle, modules that the same programs use share a file.

const root = resolve('')
const folder = join(root, 'dist', 'bundle')

/** Programs that tests run in other processes, and modules that the code finds by their path. */
const programs = [
  'src/main.ts',
  'src/cli.ts',
  'src/boot/master-secret.ts',
  'src/boot/projector-worker.ts',
  'src/boot/verify-process.ts',
  'src/cli/audit/verify-worker.ts',
  'src/studio/studio.ts',
  'src/studio/studio-worker.ts',
  'src/transports/statement/pdf-worker.ts',
  'test/suite.ts',
  'test/support/append-events.ts',
  'test/support/append-one.ts',
  'test/support/cluster-process.ts',
  'test/support/command-process.ts',
  'test/support/commit-to-redis.ts',
  'test/support/send-through-proxy.ts',
  'test/support/event-store/process.ts',
  'test/support/holding-service-process.ts',
  'test/support/open-log.ts',
  'test/support/run-files.ts',
]

/** Packages with many modules. Others stay outside: some find files beside their own, or load in a certain order. */
const joined = /^(typebox|rxjs|ajv|koa|koa-body|uuid|immutable|fast-check|@koa\/|@modelcontextprotocol\/)/

/** Leaves out other packages, except those that a joined package imports. */
const othersStay: Plugin = {
  name: 'other packages stay outside',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[^./]/ }, ({ path, importer }) =>
      importer === '' || importer.includes('/node_modules/') || joined.test(path)
        ? undefined
        : { path, external: true },
    ),
}

/** Tells each module the path that it would have without the bundle, since some find files beside it. */
const pathsStay: Plugin = {
  name: 'paths stay',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const compiled = path.replace(root, folder).replace(/\.ts$/, '.js')
      const code = (await readFile(path, 'utf8'))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(compiled).href))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(compiled)))
      return { contents: code, loader: 'ts' }
    }),
}

const tests = (await readdir('test', { recursive: true }))
  .filter(name => name.endsWith('.test.ts') && !name.includes('node_modules'))
  .map(name => join('test', name))

const options: BuildOptions = {
  outdir: folder,
  outbase: root,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  sourcemap: true,
  sourcesContent: false,
  // Packages in CommonJS call it.
  banner: {
    js: "import { createRequire as requireAt } from 'node:module'; const require = requireAt(import.meta.url);",
  },
  plugins: [othersStay, pathsStay],
  logLevel: 'warning',
}

// Apart, since the more entries share modules, the more files they are in, and a program loads hundreds of them.
await Promise.all([
  build({ ...options, entryPoints: programs, chunkNames: 'programs/[hash]' }),
  build({ ...options, entryPoints: tests, chunkNames: 'chunks/[hash]' }),
])
