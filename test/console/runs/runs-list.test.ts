import t from 'tap'
import { htmlOf } from '../../../src/console/document.tsx'
import type { PageState } from '../../../src/console/page-state.ts'
import type { ShownFilter } from '../../../src/console/runs/runs-filter.ts'
import { type ListPartProps, Rows, Tiles } from '../../../src/console/runs/runs-list.tsx'
import { firstRunIdAt, timeOfRunId } from '../../../src/services/ids.ts'

const filter: ShownFilter = { range: '1y', view: 'list', label: 'a & b' }
const next = firstRunIdAt(Date.parse('2026-11-03T14:05:59.999Z'))
const bar = { runs: 2, failures: 0, creditsMicros: 0 }
const nextBar = { ...bar, fromMs: Date.parse('2026-09-12'), toMs: Date.parse('2026-09-13') }

const shown = (props: Partial<ListPartProps>, List = Rows) => {
  const html = htmlOf(List({ runs: [], next, filter, ...props }), {} as PageState).replaceAll('&amp;', '&')
  const links = [...html.matchAll(/<a class="button" href="([^"]*)"[^>]*>([^<]*)</g)].map(([, href, text]) => [
    text,
    href,
  ])
  return { links, words: html.replaceAll(/<[^>]*>/g, ' ') }
}

t.test('the ID of a run tells its time', async t => {
  t.equal(timeOfRunId(next), Date.parse('2026-11-03T14:05:59.999Z'))
  t.equal(timeOfRunId(firstRunIdAt(0)), 0)
})

t.test('a page that ends before it is full says how far back it has searched, and where the next match is', async t => {
  const cursor = `/console/runs?range=1y&view=list&label=a+%26+b&cursor=${next}`
  const day = 'from=2026-09-12T00%3A00%3A00.000Z&to=2026-09-13T00%3A00%3A00.000Z'
  for (const List of [Rows, Tiles]) {
    const { links, words } = shown({ searchedToMs: timeOfRunId(next), nextBar }, List)
    t.match(words, 'Searched back to Nov 3, 14:05 UTC.')
    t.same(links, [
      ['Search on', cursor],
      ['Show those of Sep 12', `/console/runs?range=1y&view=list&label=a+%26+b&${day}`],
    ])
  }
  t.same(shown({ searchedToMs: timeOfRunId(next) }).links, [['Search on', cursor]])
})

t.test('a full page only offers the next one', async t => {
  const { links, words } = shown({})
  t.match(links, [['Load more', /cursor=/]])
  t.notMatch(words, 'Searched')
})
