import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { bundleOptions, programs } from '../../build.ts'

// Compiles the tests and the programs they run into dist/bundle.

const root = resolve('')
const folder = join(root, 'dist', 'bundle')

/** Programs that tests run in other processes, and modules that tests find by their path. */
const programsOfTests = [
  ...programs,
  'src/boot/master-secret.ts',
  'src/studio/studio.ts',
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
  ...bundleOptions,
  outdir: folder,
  outbase: root,
  plugins: [...bundleOptions.plugins, pathsStay],
}

// Apart, since the more entries share modules, the more files they are in, and a program loads hundreds of them.
await Promise.all([
  build({ ...options, entryPoints: programsOfTests, chunkNames: 'programs/[hash]' }),
  build({ ...options, entryPoints: tests, chunkNames: 'chunks/[hash]' }),
])
