import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import canonicalize from 'canonicalize'
import t, { type Test } from 'tap'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { EXPORT_FORMATS } from '../../../src/audit/export/export-log.ts'
import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import { accountId } from '../../support/account-samples.ts'
import { asStored } from '../../support/as-stored.ts'
import { picture } from '../../support/client.ts'
import { collect } from '../../support/collect.ts'
import { ledgerEvents } from '../../support/ledger-events.ts'
import { operatorOf } from '../../support/operator.ts'
import { toRun } from '../../support/program.ts'
import { instantProvider, openAccount, startService } from '../../support/service.ts'
import { ProgramProcess } from '../../support/service-process.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { withDeadline } from '../../support/until.ts'

const folder = await temporaryFolder(t)
const service = await startService(t, { folder, providers: { sandbox: instantProvider } })
const customer = await openAccount(service)
const other = await openAccount(service)
await customer.run(picture)
await other.run(picture)
const events = asStored(await collect(service.core.log.readAll(BEFORE_FIRST)))
const operator = operatorOf(folder)

const fileOf = async (t: Test, text: string): Promise<string> => {
  const path = join(await temporaryFolder(t), 'log.jsonl')
  await writeFile(path, text)
  return path
}

const linesOf = (events: unknown[]) => events.map(event => `${JSON.stringify(event)}\n`).join('')

const eventsIn = (text: string): RawEvent[] =>
  text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))

t.test('audit export: prints the log of a running service as canonical JSON, which audit verify accepts', async t => {
  const text = await operator.text(t, 'audit', 'export')
  t.equal(text, events.map(event => `${canonicalize(event)}\n`).join(''))
  const verification = await operator.json(t, 'audit', 'verify', '--file', await fileOf(t, text))
  t.match(verification, { valid: true, events: events.length, notes: [] })
  t.equal(await service.core.log.head(), events.at(-1)?.position, 'nothing was written')
})

t.test('audit export: one account comes with the prices that audit verify needs', async t => {
  const text = await operator.text(t, 'audit', 'export', customer.accountId)
  const stream = `account-${customer.accountId}`
  t.same(
    eventsIn(text),
    events.filter(event => event.stream === stream || event.stream === 'catalog'),
  )
  const verified = ['audit', 'verify', customer.accountId, '--file', await fileOf(t, text)]
  t.match(await operator.json(t, ...verified), { valid: true, notes: [] })
})

t.test('audit export: prints the same of an exported log, and of one account only that', async t => {
  const path = await fileOf(t, linesOf(events))
  for (const format of EXPORT_FORMATS) {
    const args = ['audit', 'export', '--format', format]
    const text = await operator.text(t, ...args)
    t.equal(await operator.text(t, ...args, '--file', path), text, format)
    t.match(text, other.accountId.slice('acct_'.length))
    const own = await operator.text(t, ...args, customer.accountId)
    t.match(own, customer.accountId.slice('acct_'.length))
    t.notMatch(own, other.accountId.slice('acct_'.length), format)
  }
})

t.test('audit export: an account or a format that does not exist', async t => {
  const { code, stdout, stderr } = await operator.run('audit', 'export', accountId())
  t.same({ code, stdout }, { code: 2, stdout: '' })
  t.match(stderr, /has no account acct_/)
  const unknown = await operator.run('audit', 'export', '--format', 'xml')
  t.equal(unknown.code, 2)
  t.match(unknown.stderr, /jsonl, csv, hledger, beancount/)
})

t.test('audit export: a log that cannot be booked ends with its place', async t => {
  const written = (change: (event: RawEvent) => object) => {
    const { events, grant, debit } = ledgerEvents()
    grant()
    debit()
    return linesOf([events[0], { ...events[1], ...change(events[1] as RawEvent) }])
  }
  const debited = ({ data }: RawEvent) => data as object
  const cases: [name: string, text: string, told: RegExp][] = [
    ['no JSON', 'nonsense\n', /line 1 is not JSON/],
    [
      'other amount',
      written(event => ({ data: { ...debited(event), amountMicros: 1 } })),
      /revision 2 does not add up/,
    ],
    ['too much', written(event => ({ data: { ...debited(event), amountMicros: 2e9 } })), /revision 2: more credits/],
    [
      'unknown run',
      written(event => ({ type: 'RunCompleted', data: { ...debited(event) } })),
      /at revision 2 .*: data/,
    ],
    ['no data', written(() => ({ data: undefined })), /unreadable CreditsDebited at revision 2/],
    ['data is null', written(() => ({ data: null })), /unreadable CreditsDebited at revision 2/],
    ['no metadata', written(() => ({ metadata: undefined })), /unreadable CreditsDebited at revision 2/],
    ['metadata is text', written(() => ({ metadata: 'x' })), /unreadable CreditsDebited at revision 2/],
  ]
  for (const [name, text, told] of cases)
    for (const format of ['csv', 'hledger', 'beancount'] as const) {
      const { code, stderr } = await operator.run(
        'audit',
        'export',
        '--format',
        format,
        '--file',
        await fileOf(t, text),
      )
      t.equal(code, 2, `${format}: ${name}`)
      t.match(stderr, told, `${format}: ${name}`)
      t.notMatch(stderr, /^ +at /m, 'has no stack')
    }
})

t.test('audit export: books have no account without an id and no day that the calendar lacks', async t => {
  const { events, grant } = ledgerEvents()
  grant()
  const at = '2026-13-41T00:00:00.000Z'
  for (const format of ['hledger', 'beancount'])
    for (const [change, told] of [
      [{ stream: 'account-me' }, /"me" is not an account ID/],
      [{ metadata: { ...(events[0]?.metadata as object), at } }, /revision 1: the calendar has no such time/],
    ] as const) {
      const path = await fileOf(t, linesOf([{ ...events[0], ...change }]))
      const { code, stderr } = await operator.run('audit', 'export', '--format', format, '--file', path)
      t.equal(code, 2)
      t.match(stderr, told)
      t.notMatch(stderr, /^ +at /m, 'has no stack')
    }
})

t.test('audit export: text without a canonical form is told with its place', async t => {
  const path = await fileOf(t, linesOf([events[0]]).replace('"name":"', '"name":"\\ud800'))
  const { code, stdout, stderr } = await operator.run('audit', 'export', '--file', path)
  t.same({ code, stdout }, { code: 2, stdout: '' })
  t.match(stderr, /^catalog holds at revision 0 text that has no canonical form\n$/)
})

/** Runs an export whose standard output is something else. */
const exportTo = (place: string) => {
  const script = `set -o pipefail; "$@" ${place}`
  const args = [...toRun('src/cli.ts'), 'audit', 'export']
  const child = new ProgramProcess(['bash', '-c', script, 'bash', ...args], { DATA_DIR: folder })
  t.teardown(() => child.end('SIGKILL'))
  return withDeadline('the export ends', child.ended)
}

t.test('audit export: ends quietly when its reader leaves', async t => {
  const { code, stdout, stderr } = await exportTo('| head -c 10')
  t.same({ code, length: stdout.length, stderr }, { code: 0, length: 10, stderr: '' })
})

t.test('audit export: a full disk is told, without a stack', async t => {
  const { code, stderr } = await exportTo('> /dev/full')
  t.equal(code, 2)
  t.match(stderr, /^The export cannot be written: .*no space left on device.*\n$/)
})
