import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Needs, skipUnlessCi } from './needs.ts'

/** Programs from the separate installation in test/outside/. */
const inOutside = (path: string): string => resolve('test/outside/node_modules', path)

/** The programs that tests and benchmarks run, by their scripts. */
const programs = {
  'openapi-typescript': 'openapi-typescript/bin/cli.js',
  'hey-api': '@hey-api/openapi-ts/bin/run.js',
  orval: 'orval/dist/bin/orval.mjs',
  spectral: '@stoplight/spectral-cli/dist/index.js',
  conformance: '@modelcontextprotocol/conformance/dist/index.js',
  inspector: '@modelcontextprotocol/inspector/clients/launcher/build/index.js',
  portkey: '@portkey-ai/gateway/build/start-server.js',
  dbos: '@dbos-inc/dbos-sdk/dist/src/index.js',
}
type Program = keyof typeof programs

/** Some need a newer Node.js than the service. */
const node = inOutside('node-24/bin/node')

/** The command and its first arguments. */
export const outsideProgram = (name: Program): [node: string, script: string] => [node, inOutside(programs[name])]

/** Whether a program and the Node.js that it needs are installed. */
export const isInstalled = (name: Program): boolean => outsideProgram(name).every(file => existsSync(file))

/** The tap options of tests that need a program. */
export const needsOutside = (name: Program): Needs => {
  return skipUnlessCi(!isInstalled(name) && `${name} is not installed: npm ci --ignore-scripts --prefix test/outside`)
}
