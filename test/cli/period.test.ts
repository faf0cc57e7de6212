import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { PERIODS_STREAM } from '../../schemas/events.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { BEFORE_FIRST } from '../../src/ports/event-log.ts'
import { collect } from '../support/collect.ts'
import { operatorOf } from '../support/operator.ts'
import { openAccount, openFolder, startService } from '../support/service.ts'
import { ScriptProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'

/** The month before the present one, in which the first events were written. */
const now = new Date()
const past = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 15, 12))
const [month, present] = [past, now].map(time => time.toISOString().slice(0, 7)) as [string, string]
const then = { ...systemClock, nowMs: () => past.getTime() }

const folder = await temporaryFolder(t)
const operator = operatorOf(folder)
const before = await openFolder(folder, { clock: then })
const customer = await openAccount({ core: before, url: 'http://localhost' })
await before.close()
const service = await startService(t, { folder })

/** Grants credits by a clock that is behind. */
const grantLate = async (reference: string) => {
  const core = await openFolder(folder, { clock: then })
  const grant = { amountMicros: 5_000_000, kind: 'courtesy', reference, reason: 'late' } as const
  unwrap(await core.services.accounts.grant({ kind: 'operator', name: 'test' }, customer.accountId, grant))
  await core.close()
}

const FORMATS = ['text', 'csv', 'json', 'html', 'pdf']
const statements = (...options: string[]) =>
  Promise.all(
    FORMATS.map(async format => {
      const path = join(folder, `statement.${format}`)
      const args = ['audit', 'statement', customer.accountId, ...options, '--format', format, '--output', path]
      await operator.text(t, ...args)
      return readFile(path, 'latin1')
    }),
  )

t.test('period close: a month that is not over, or is none, is refused', async t => {
  t.match(await operator.refused(t, 'period', 'close', present), `${present} is not over: it is`)
  t.match(await operator.refused(t, 'period', 'close', '2000-01'), 'The first event of the log is of')
  for (const text of ['2026-13', '2026', 'November'])
    t.match(await operator.refused(t, 'period', 'close', text), /^The period must be a month such as 2026-11\.$/m)
  t.match(
    await operator.text(t, 'period', 'list'),
    /No month is closed yet\. .* closes November 2026, once the month is over\./,
  )
})

t.test('period close: closes a month in a running service, and its statement never changes', async t => {
  const open = await operator.text(t, 'audit', 'statement', customer.accountId, '--period', month)
  t.notMatch(open, 'closed')
  const closed = await operator.json<{ seal: string; sealed_events: number }>(
    t,
    '--as',
    'Ada',
    'period',
    'close',
    month,
  )
  t.match(closed, { from: month, to: month, seal: /^\d+:sha256-[0-9a-f]{64}$/, closed_at: String })
  t.same(await operator.json(t, 'period', 'list'), [closed])
  t.match(await operator.text(t, 'period', 'list'), closed.seal)
  const files = await statements('--period', month)
  for (const index of [0, 1, 2, 3]) t.match(files[index], closed.seal, `${FORMATS[index]} names the seal`)
  t.match(
    await operator.refused(t, 'period', 'close', month),
    `${month} was closed, with seal ${closed.seal.split(':')[0]}.`,
  )

  await grantLate('one')
  t.same(await statements('--period', month), files)
  t.same(await statements('--from', `${month}-01`, '--to', `${present}-01`), files)
  const next = await operator.text(t, 'audit', 'statement', customer.accountId, '--period', present)
  t.match(next, new RegExp(`time of ${month}, booked in\\s+${present}`))
  const { stdout } = await operator.run('audit', 'verify')
  t.match(stdout, /nothing is wrong/)
  const events = await collect(service.core.log.readAll(BEFORE_FIRST))
  t.match(events.findLast(({ type }) => type === 'PeriodClosed')?.metadata, { actor: { name: 'Ada' } })
})

t.test('period close: a command that is killed while it waits for the seal has closed nothing', async t => {
  const folder = await temporaryFolder(t)
  const core = await openFolder(folder, { clock: then })
  await openAccount({ core, url: 'http://localhost' })
  const command = new ScriptProcess('src/cli.ts', ['period', 'close', month], { DATA_DIR: folder })
  t.teardown(() => command.end('SIGKILL'))
  const own = () => collect(core.log.readStream(PERIODS_STREAM, 0))
  await until('the close is requested', async () => (await own()).length === 1)
  await command.end('SIGKILL')
  await core.close()
  const service = await startService(t, { folder })
  const closed = await operatorOf(folder).json(t, 'period', 'close', month)
  t.match(closed, { to: month })
  const types = (await collect(service.core.log.readStream(PERIODS_STREAM, 0))).map(({ type }) => type)
  t.same(types, ['PeriodCloseRequested', 'PeriodClosed'])
})

t.test('audit statement: --period is a month, and takes the place of --from and --to', async t => {
  for (const [args, told] of [
    [['--period', '2026-11', '--to', '2026-12-01'], /^Give either --period, or --from and --to\./],
    [['--period', '2026-13'], /^--period must be a month in UTC, such as 2026-11\./],
    [['--period', '2026-1'], /^--period must be a month/],
    [['--period', '9999-12'], /^--period must be a month/],
  ] as const) {
    const { code, stderr } = await operator.run('audit', 'statement', customer.accountId, ...args)
    t.equal(code, 2)
    t.match(stderr, told)
  }
  const late = await openAccount(service)
  const { code, stderr } = await operator.run('audit', 'statement', late.accountId, '--period', month)
  t.same([code, stderr.trim()], [2, `${late.accountId} was opened after the period was closed.`])
})
