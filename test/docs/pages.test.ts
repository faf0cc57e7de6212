import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import t from 'tap'
import { examples } from '../../src/cli/examples.ts'
import { createProgram } from '../../src/cli/program.ts'
import { templateOf } from '../../src/http/operation.ts'
import { routes } from '../../src/http/routes.ts'
import { generatedPages } from '../support/pages/make-pages.ts'

for (const [file, make] of Object.entries(generatedPages))
  t.test(`${file} is as the code has it; npm run docs:pages writes it`, async t => {
    t.equal(await readFile(file, 'utf8'), await make())
  })

t.test('the pages of the API and of auditing name every request', async t => {
  const [api, auditing] = await Promise.all(['docs/api.md', 'docs/auditing.md'].map(file => readFile(file, 'utf8')))
  for (const operation of routes) {
    const request = `${operation.method.toUpperCase()} ${templateOf(operation)}`
    t.match(operation.auth === 'auditor key' ? auditing : api, `\`${request}\``, request)
  }
})

t.test('the log lines of the monitoring page are in the code', async t => {
  const page = await readFile('docs/outages.md', 'utf8')
  const files = (await readdir('src', { recursive: true })).filter(name => name.endsWith('.ts'))
  const source = (await Promise.all(files.map(name => readFile(join('src', name), 'utf8')))).join('')
  const lines = [...page.slice(page.indexOf('| `msg`')).matchAll(/^\| `([^`:;]+)/gm)].map(([, line = '']) => line)
  t.ok(lines.length > 30)
  // The code puts some lines together: before the semicolon is what happened, after it what the service does.
  for (const line of lines.slice(1)) t.ok(source.includes(line), line)
})

t.test('every command in the documentation exists, with its options', async t => {
  const names = (await readdir('docs', { recursive: true })).filter(name => name.endsWith('.md'))
  const pages = ['README.md', ...names.map(name => join('docs', name))]
  const program = await createProgram()
  for (const page of pages) {
    const text = await readFile(page, 'utf8')
    const commands = text.matchAll(/^npm run -s tollgate -- ([^\n|>]*)|`tollgate ([^`]+)`/gm)
    for (const [, inBlock, inText = ''] of commands) {
      const words = (inBlock ?? inText).replace(/\s#.*$/, '').split(/\s+/)
      const known = ['--help', '--as', ...(optionsAt(program, words) ?? [])]
      const used = words.filter(word => word.startsWith('--')).map(word => word.replace(/=.*/, ''))
      t.ok(optionsAt(program, words) && used.every(option => known.includes(option)), `${page}: ${words.join(' ')}`)
    }
  }
})

t.test('every command has examples, with options that it has', async t => {
  const program = await createProgram()
  for (const name of commandsIn(program)) t.ok(examples[name], name)
  for (const example of Object.values(examples).flat()) {
    const words = example.split(/\s+/)
    const known = ['--as', ...(optionsAt(program, words) ?? [])]
    const used = words.filter(word => word.startsWith('--'))
    t.ok(optionsAt(program, words) && used.every(option => known.includes(option)), example)
  }
})

const commandsIn = (command: Command, path: string[] = []): string[] => {
  const children = command.createHelp().visibleCommands(command) as Command[]
  const named = children.filter(child => child.name() !== 'help')
  return named.length === 0 ? [path.join(' ')] : named.flatMap(child => commandsIn(child, [...path, child.name()]))
}

/** The options of the command that the words begin with; undefined if there is none. */
const optionsAt = (command: Command, [word = '', ...rest]: string[]): string[] | undefined => {
  const [name = ''] = word.split('|')
  const child = command.commands.find(each => each.name() === name)
  if (child) return optionsAt(child, rest)
  if (command.commands.length > 0 && /^[a-z]/.test(name)) return undefined
  return command.options.flatMap(({ long }) => long ?? [])
}
