import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Plugin } from 'esbuild'

// Compiles the product. It has more than a thousand modules, and loading them takes most of a start. In the bundle,
// modules that the same programs use share a file. `npm run check` checks the types.

/** Programs, and modules that the code finds by their path. */
export const programs = [
  'src/main.ts',
  'src/cli.ts',
  'src/boot/projector-worker.ts',
  'src/boot/verify-process.ts',
  'src/cli/audit/verify-worker.ts',
  'src/studio/studio-worker.ts',
  'src/transports/statement/pdf-worker.ts',
]

/**
 * Packages with many modules, or that commands load at their start. Others stay outside: some find files beside their
 * own, or load in a certain order.
 */
const joined = new RegExp(
  `^(${[
    '@koa/|@modelcontextprotocol/|ajv|commander|csv-stringify|fast-check|forwarded-parse|immutable|ipaddr.js|koa',
    'koa-body|lru-cache|on-headers|proxy-addr|rxjs|safe-stable-stringify|stripe|typebox|typeid-js|uuid',
  ].join('|')})`,
)

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

export const bundleOptions = {
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
  plugins: [othersStay],
  logLevel: 'warning',
} satisfies BuildOptions

const builds = resolve('dist', 'builds')

/** Each build has a folder, since a running service loads later what it seldom needs. */
const MAX_BUILDS = 5

/** `isAlone`: whether to remove all other builds. */
const buildProduct = async ({ isAlone }: { isAlone: boolean }) => {
  const startedAt = new Date()
  const { outputFiles } = await build({
    ...bundleOptions,
    // All files are in one folder, so that a module finds its worker beside it, whichever file holds the module.
    entryPoints: programs.map(program => ({ in: program, out: basename(program, '.ts') })),
    outdir: join(builds, 'new'),
    write: false,
  })
  const digest = createHash('sha256')
  for (const { hash } of outputFiles) digest.update(hash)
  const name = digest.digest('hex').slice(0, 16)
  const folder = join(builds, name)
  await mkdir(builds, { recursive: true })
  if (!existsSync(folder)) {
    const unfinished = await mkdtemp(`${folder}-`)
    for (const { path, contents } of outputFiles) await writeFile(join(unfinished, basename(path)), contents)
    await rename(unfinished, folder)
  }
  await utimes(folder, startedAt, startedAt)
  for (const program of ['main', 'cli']) await point(program, name, startedAt)
  for (const path of (await newestFirst()).slice(isAlone ? 1 : MAX_BUILDS)) await rm(path, { recursive: true })
}

/** Makes `dist/src/PROGRAM.js` run a build. `npm run build` compares its time with the times of the sources. */
const point = async (program: string, name: string, builtAt: Date) => {
  const path = join('dist', 'src', `${program}.js`)
  const lines = [
    '#!/usr/bin/env node',
    'process.setSourceMapsEnabled(true)',
    `await import('../builds/${name}/${program}.js')`,
  ]
  await mkdir(join('dist', 'src'), { recursive: true })
  await writeFile(`${path}.new`, `${lines.join('\n')}\n`, { mode: 0o755 })
  await utimes(`${path}.new`, builtAt, builtAt)
  await rename(`${path}.new`, path)
}

const newestFirst = async (): Promise<string[]> => {
  const folders = (await readdir(builds)).map(name => join(builds, name))
  const timed = await Promise.all(folders.map(async path => ({ path, at: (await stat(path)).mtimeMs })))
  return timed.sort((one, other) => other.at - one.at).map(({ path }) => path)
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await buildProduct({ isAlone: process.argv.includes('--alone') })
