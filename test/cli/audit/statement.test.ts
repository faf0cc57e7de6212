import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { PRIVATE } from '../../../schemas/personal.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { checkTerminal } from '../../../src/cli/audit/statement.ts'
import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import { accountId } from '../../support/account-samples.ts'
import { asStored } from '../../support/as-stored.ts'
import { picture } from '../../support/client.ts'
import { collect } from '../../support/collect.ts'
import { runCommand } from '../../support/command-runner.ts'
import { startEventStoreServer } from '../../support/event-store/server.ts'
import { logOf } from '../../support/log-of.ts'
import { operatorOf } from '../../support/operator.ts'
import { pageText, pdfPages } from '../../support/pdf-text.ts'
import { instantProvider, openAccount, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const folder = await temporaryFolder(t)
const service = await startService(t, { folder, providers: { sandbox: instantProvider } })
const customer = await openAccount(service)
await customer.run(picture)
const events = asStored(await collect(service.core.log.readAll(BEFORE_FIRST)))
const operator = operatorOf(folder)

const ever = ['--from', '2020-01-01', '--to', '2100-01-01']
const statement = ['audit', 'statement', customer.accountId]

const fileOf = async (t: Test, events: RawEvent[]): Promise<string> => {
  const path = join(await temporaryFolder(t), 'log.jsonl')
  await writeFile(path, events.map(event => `${JSON.stringify(event)}\n`).join(''))
  return path
}

t.test('audit statement: reads the log of a running service, or an exported one, and writes nothing', async t => {
  const file = ['--file', await fileOf(t, events)]
  for (const format of ['text', 'csv', 'json', 'html']) {
    const text = await operator.text(t, ...statement, ...ever, '--format', format)
    t.match(text, customer.accountId)
    t.match(text, 'nano-banana-2')
    t.equal(await operator.text(t, ...statement, ...ever, '--format', format, ...file), text, format)
  }
  t.match(await operator.text(t, ...statement, ...ever), /^closing balance +90\.00 +0\.00 +90\.00$/m)
  t.equal(await service.core.log.head(), events.at(-1)?.position)
})

t.test('audit statement: reads EventStoreDB, and without the key of the account shows no address', async t => {
  const server = await startEventStoreServer({ log: { ...service.core.log, ...logOf(events) } })
  t.teardown(() => server.close())
  const args = [...statement, ...ever, '--format', 'json']
  const env = { DATA_DIR: await temporaryFolder(t), EVENT_STORE_URL: server.url, MASTER_SECRET: 's'.repeat(32) }
  const { code, stdout, stderr } = await runCommand({ args, env })
  t.same([code, stderr], [0, ''])
  const withoutPositions = (text: string) => text.replaceAll(/"position":\d+/g, '')
  const own = await operator.text(t, ...args)
  t.match(own, /[\w-]+@example\.com/)
  t.equal(withoutPositions(stdout), withoutPositions(own).replaceAll(/[\w-]+@example\.com/g, PRIVATE))
})

t.test('audit statement: --output writes a file, and the same PDF each time', async t => {
  const path = (name: string) => join(folder, name)
  for (const name of ['one.pdf', 'other.pdf'])
    t.equal(await operator.text(t, ...statement, ...ever, '--format', 'pdf', '--output', path(name)), '')
  const [one, other] = [await readFile(path('one.pdf')), await readFile(path('other.pdf'))]
  t.ok(one.equals(other))
  t.match(pdfPages(one).map(pageText).join('\n'), customer.accountId)
  await operator.text(t, ...statement, ...ever, '--format', 'csv', '--output', path('one.csv'))
  t.equal(await readFile(path('one.csv'), 'utf8'), await operator.text(t, ...statement, ...ever, '--format', 'csv'))
})

t.test('audit statement: has the name and look that the environment names', async t => {
  const branded = operatorOf(folder, { SERVICE_NAME: 'Acme & Sons', BRAND_COLOR: '#b3261e' })
  const file = ['--file', await fileOf(t, events)]
  for (const from of [[], file]) {
    const html = await branded.text(t, ...statement, ...ever, '--format', 'html', ...from)
    t.match(html, '<bdi>Acme &amp; Sons</bdi>')
    t.match(html, '--accent: #b3261e')
  }
  const light = operatorOf(folder, { BRAND_COLOR: '#ffee88' })
  const refused = await light.run(...statement, ...ever, '--format', 'html', ...file)
  t.match(refused, { code: 2, stderr: /BRAND_COLOR has a contrast of/ })
  t.match(await light.text(t, ...statement, ...ever, ...file), customer.accountId, 'a text has no look')
})

t.test('audit statement: dates begin at midnight in the zone', async t => {
  const granted = events.find(({ type }) => type === 'CreditsGranted') as RawEvent
  const { at } = granted.metadata as { at: string }
  const day = at.slice(0, 10)
  const linesIn = async (...args: string[]) => {
    const { lines, period } = JSON.parse(await operator.text(t, ...statement, '--format', 'json', ...args))
    return { count: lines.length, period }
  }
  const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
  t.equal((await linesIn('--from', day, '--to', next)).count, 2)
  t.match(await linesIn('--from', '2026-10-25', '--to', '2026-10-26', '--tz', 'Europe/Berlin'), {
    period: { from: '2026-10-24T22:00:00.000Z', to: '2026-10-25T23:00:00.000Z', time_zone: 'Europe/Berlin' },
  })
  const before = await linesIn('--from', '2020-01-01T00:00:00+02:00', '--to', at)
  t.same([before.count, before.period.from], [0, '2019-12-31T22:00:00.000Z'])
})

t.test('audit statement: a fault of the account ends with 1, and names the command that finds them all', async t => {
  const broken = events.map(event =>
    JSON.parse(JSON.stringify(event).replace('"reason":"welcome"', '"reason":"\u202e"')),
  )
  const output = join(folder, 'none.csv')
  const args = [...ever, '--file', await fileOf(t, broken), '--format', 'csv', '--output', output]
  const { code, stdout, stderr } = await operator.run(...statement, ...args)
  t.same({ code, stdout }, { code: 1, stdout: '' })
  t.match(stderr, /revision 1: its link does not match what was written\.\nRun "tollgate audit verify"/)
  t.notMatch(stderr, /^ +at /m, 'has no stack')
  await t.rejects(readFile(output), { code: 'ENOENT' })
})

t.test('audit statement: what cannot be made ends with 2 and says why', async t => {
  const path = join(folder, 'nonsense.jsonl')
  await writeFile(path, 'nonsense\n')
  for (const [args, told] of [
    [[customer.accountId], /^Name the period: give --period 2026-11, or --from and --to\./],
    [[customer.accountId, '--from', '2026-01-01'], /^--to must be a date such as/],
    [[customer.accountId, '--to', '2026-01-01'], /^--from must be a date such as/],
    [[customer.accountId, '--from', '2026-02-30', '--to', '2026-03-01'], /^--from must be a date/],
    [[customer.accountId, '--from', '2026-01-01T00:00', '--to', '2026-03-01'], /^--from must be a date/],
    [[customer.accountId, '--from', '2026-01-02', '--to', '2026-01-02'], /^--from must be before --to; they are/],
    [[customer.accountId, ...ever, '--tz', 'Mars/Olympus'], /^--tz must be an IANA time zone such as/],
    [[customer.accountId, ...ever, '--tz', '+01:00'], /^--tz must be an IANA time zone such as/],
    [[accountId(), ...ever], /^The log has no account acct_0/],
    [['somebody', ...ever], /must be an ID such as acct_/],
    [[customer.accountId, ...ever, '--file', join(folder, 'missing.jsonl')], /no such file/],
    [[customer.accountId, ...ever, '--file', path], /line 1 is not JSON/],
    [
      [customer.accountId, ...ever, '--output', join(folder, 'no', 'folder')],
      /^The statement cannot be written: ENOENT/,
    ],
  ] as const) {
    const { code, stdout, stderr } = await operator.run('audit', 'statement', ...args)
    t.same([code, stdout], [2, ''], args.join(' '))
    t.match(stderr, told)
    t.notMatch(stderr, /^ +at /m, 'has no stack')
  }
})

t.test('audit statement: a PDF is not shown on a terminal', async t => {
  const told = { name: 'OperatorError', exitCode: 2, message: /Name a file with --output/ }
  t.throws(() => checkTerminal({ format: 'pdf' }, true), told)
  for (const [options, isTerminal] of [
    [{ format: 'pdf' }, false],
    [{ format: 'pdf', output: 'x.pdf' }, true],
    [{ format: 'html' }, true],
  ] as const)
    t.doesNotThrow(() => checkTerminal(options, isTerminal))
})
