import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { openLmdbEventLogReadOnly } from '../src/adapters/event-log/lmdb-read-only.ts'
import { BEFORE_FIRST } from '../src/ports/event-log.ts'
import { picture } from './support/client.ts'
import { collect } from './support/collect.ts'
import { operatorOf } from './support/operator.ts'
import { instantProvider, openAccount, startService } from './support/service.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const folder = await temporaryFolder(t)
const service = await startService(t, { folder, providers: { sandbox: instantProvider } })
const customer = await openAccount(service)
await customer.run(picture)
const operator = operatorOf(folder)

/** The log as an exported file, with a change of its lines. */
const exported = async (change: (lines: string[]) => string[] = lines => lines): Promise<string> => {
  const log = openLmdbEventLogReadOnly(join(folder, 'log'))
  const lines = (await collect(log.readAll(BEFORE_FIRST))).map(event => JSON.stringify(event))
  await log.close()
  const path = join(await temporaryFolder(t), 'log.jsonl')
  await writeFile(
    path,
    change(lines)
      .map(line => `${line}\n`)
      .join(''),
  )
  return path
}

t.test('audit verify: the log of a running service has no fault', async t => {
  const before = await service.core.log.head()
  const verification = await operator.json<Record<string, unknown>>(t, 'audit', 'verify')
  t.match(verification, { valid: true, position: before, events: before + 1, faults: [], notes: [] })
  t.match(await operator.text(t, 'audit', 'verify'), /^\d+ events in \d+ streams checked, .*: nothing is wrong\.\n$/)
  t.equal(await service.core.log.head(), before, 'nothing was written')
})

t.test('audit verify: checks one account', async t => {
  const { events } = await operator.json<{ events: number }>(t, 'audit', 'verify', customer.accountId)
  const all = await operator.json<{ events: number }>(t, 'audit', 'verify')
  t.ok(events < all.events)
  const { code, stderr } = await operator.run(t, 'audit', 'verify', 'acct_00000000000000000000000000')
  t.equal(code, 2)
  t.match(stderr, /has no account acct_/)
})

t.test('audit verify: an exported log has no fault, and a changed one names the place', async t => {
  t.match(await operator.json(t, 'audit', 'verify', '--file', await exported()), { valid: true })
  const change = (lines: string[]) =>
    lines.map(line => line.replace('"amountMicros":100000000', '"amountMicros":900000000'))
  const { code, stdout } = await operator.run(t, 'audit', 'verify', '--file', await exported(change), '--json')
  t.equal(code, 1)
  const place = {
    stream: `account-${customer.accountId}`,
    revision: 1,
    fault: 'its link does not match what was written',
  }
  t.match(JSON.parse(stdout), { valid: false, faults: [place] })
})

t.test('audit verify: what cannot be read is no fault', async t => {
  const missing = join(folder, 'missing.jsonl')
  for (const [path, told] of [
    [missing, /no such file/],
    [await exported(lines => ['not JSON', ...lines]), /line 1 is not JSON/],
    [await exported(lines => [...lines, '{"stream":"x"}']), /line \d+ is no event/],
  ] as const) {
    const { code, stderr } = await operator.run(t, 'audit', 'verify', '--file', path)
    t.equal(code, 2)
    t.match(stderr, told)
    t.notMatch(stderr, /^ +at /m, 'has no stack')
  }
  await t.rejects(readFile(missing), { code: 'ENOENT' })
})
