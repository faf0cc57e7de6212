import t from 'tap'
import { readReports } from '../../../src/services/providers/provider-reports.ts'

const NOW_MS = Date.parse('2026-11-24T12:00:00.000Z')
const at = (seconds: number) => new Date(NOW_MS + seconds * 1000).toISOString()

const rest = (change: object = {}) => ({ provider: 'fal', account: 'a', kind: 'overloaded', until: at(10), ...change })
const shared = (change: object = {}, processes = 1) => ({ ...rest(change), processes })
const report = (change: object = {}) => ({ calls: { fal: 2 }, maxCalls: 8, rests: [], ...change })

const read = (...reports: unknown[]) =>
  readAt(
    ...reports.map(each => ({ text: typeof each === 'string' ? each : JSON.stringify(each), untilMs: NOW_MS + 1 })),
  )
const readAt = async (...reports: { text: string; untilMs: number }[]) =>
  Object.fromEntries(await readReports({ reports: async () => reports }, NOW_MS))

t.test('the reports of several processes are added up', async t => {
  const two = [report({ rests: [rest()] }), report({ calls: { fal: 3, openai: 1 }, rests: [rest({ until: at(20) })] })]
  const expected = {
    fal: { processes: 2, calls: 5, maxCalls: 16, openBreakers: [shared({ until: at(20) }, 2)] },
    openai: { processes: 1, calls: 1, maxCalls: 8, openBreakers: [] },
  }
  t.same(await read(...two), expected)
  t.same(await read(...two.toReversed()), expected)
  const models = [rest(), rest({ model: 'b/c' }), rest({ account: 'b' }), rest({ provider: 'openai' })]
  t.same(
    (await read(report({ rests: models })))['fal']?.openBreakers,
    models.slice(0, 3).map(each => ({ ...each, processes: 1 })),
  )
})

t.test('what is over is not shown', async t => {
  t.same((await read(report({ rests: [rest({ until: at(0) })] })))['fal']?.openBreakers, [])
  const text = JSON.stringify(report())
  t.same(await readAt({ text, untilMs: NOW_MS }), {})
  t.same(await readAt({ text, untilMs: NOW_MS + 3_600_000 }), {}, 'nor what a clock far ahead wrote')
})

t.test('what no service wrote is ignored', async t => {
  const forged = [
    ...['', '{', 'null', '[]', report({ calls: { fal: -1 } }), report({ secret: 1 })],
    ...[report({ rests: [rest({ account: '\u001b[2J' })] }), report({ rests: [rest({ kind: 'made up' })] })],
    ...[report({ rests: Array(501).fill(rest()) }), `${JSON.stringify(report())}${' '.repeat(1024 * 1024)}`],
    ...[report({ calls: { 'a b': 1 } }), report({ rests: [rest({ until: 'soon' })] })],
  ]
  for (const each of forged) t.same(await read(each), {}, JSON.stringify(each).slice(0, 200))
})
