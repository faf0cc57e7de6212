import type { SearchResult } from '../../../console/finder/search-page.tsx'
import { navigation } from '../../../console/navigation.ts'
import { CATALOG } from '../../../console/operator/catalog-page.tsx'
import { promptOf, statusOf } from '../../../console/runs/run-words.ts'
import { DAY_MS, dayOf } from '../../../domain/days.ts'
import { modeOf, type SessionOwner } from '../../../services/caller.ts'
import type { WaitingClient } from '../../../services/views/newest-first.ts'
import { unwrap } from '../../../transports/refusals.ts'
import type { PageDependencies } from './dependencies.ts'
import { distinct, matching, type Named } from './matching.ts'

/** Results of a kind. Who has more types more. */
const MAX_OF_KIND = 5

/** Sections of guides whose text has the words. Names are what people look for first. */
const MAX_SECTIONS = 3

/** A search for an ID must not find guides that mention such IDs. */
const WORDS = /^[\p{L}\p{M} '-]+$/u

/** Runs whose prompts are searched. Each prompt is a read of the log. */
const NEWEST_RUNS = 30

/** The last days whose labels are found. */
const LABEL_DAYS = 30

/** The most labels to search. Where there are more, they are IDs, which people paste whole. */
const MAX_LABELS = 1000

interface Asked {
  query: string
  isOperator: boolean
}

/** What has a name: pages and actions, and the account's own models, keys, labels and newest runs. */
export const namedResults = async (
  dependencies: PageDependencies,
  owner: SessionOwner,
  { query, isOperator }: Asked,
  client: WaitingClient,
): Promise<SearchResult[]> => {
  const isTest = modeOf(owner).livemode === false
  const fixed = [...pagesFor(isOperator), ...actionsFor(isTest)]
  if (query === '') return fixed.map(({ result }) => result)
  const [models, keys, labels, runs, pages, sections] = await Promise.all([
    modelsOf(dependencies, owner),
    keysOf(dependencies, owner, isTest),
    isTest ? [] : labelsOf(dependencies, owner, client),
    runsOf(dependencies, owner, client),
    dependencies.docs.titles({ isReader: true, isOperator }),
    dependencies.docs.sections(),
  ])
  const prices = isOperator ? models.map(pricesOf) : []
  const kinds = [fixed, models, keys, labels].map(kind => matching(kind, query))
  const best = (kind: readonly Named[]) =>
    matching(kind, query)
      .slice(0, MAX_OF_KIND)
      .map(({ result }) => result)
  return distinct([
    ...kinds
      .flatMap((kind, index) => kind.slice(0, index === 0 ? undefined : MAX_OF_KIND))
      .sort((one, other) => one.rank - other.rank)
      .map(({ result }) => result),
    ...[pages, prices].flatMap(best),
    ...(WORDS.test(query) ? sections.find(query, { limit: MAX_SECTIONS, hasFolded: isOperator }) : []),
    // Prompts have most words, and would come before the names.
    ...best(runs),
  ])
}

const pagesFor = (isOperator: boolean): Named[] =>
  [...navigation.account, ...(isOperator ? navigation.operator : []), navigation.documentation].map(
    ({ href, name, icon }) => ({ result: { href, name, icon, note: 'Page' } }),
  )

const actionsFor = (isTest: boolean): Named[] => {
  const actions: Omit<SearchResult, 'note'>[] = [
    { href: '/console/keys#name', icon: 'plus', name: 'Create new key' },
    { href: '/console/playground/models', icon: 'image', name: 'Choose a model' },
    { href: '/console/credits#check', icon: 'shield-check', name: 'Check my ledger' },
    { href: '/console/credits#statement', icon: 'download', name: 'Download the statement' },
    { href: '/console/webhooks#test', icon: 'webhook', name: 'Test a webhook' },
    { href: '/console/settings#sessions', icon: 'users', name: 'End sessions' },
    { href: '/docs/first-request', icon: 'book-open', name: 'Send your first request' },
    { href: '/docs/reference', icon: 'list', name: 'Look up the API reference' },
    {
      ...{ href: '/console/mode', icon: 'sliders-horizontal', name: `Turn test mode ${isTest ? 'off' : 'on'}` },
      sends: { mode: isTest ? 'live' : 'test' },
    },
    { href: '/console/sign-out', icon: 'x', name: 'Sign out', sends: {} },
  ]
  return actions.map(action => ({ result: { ...action, note: 'Action' } }))
}

const modelsOf = async ({ services }: PageDependencies, owner: SessionOwner) =>
  unwrap(await services.catalog.list(owner)).map(({ family: { id, name, aliases } }) => {
    const result: SearchResult = { href: `/console/playground?model=${id}`, icon: 'play', name, note: 'Run this model' }
    return { id, result, words: [name, id, ...aliases].join(' ') }
  })

const pricesOf = ({ id, result: { name }, words }: Awaited<ReturnType<typeof modelsOf>>[number]): Named => ({
  result: { href: `${CATALOG}/${id}`, icon: 'package', name, note: 'Its prices' },
  words,
})

const keysOf = async ({ services }: PageDependencies, owner: SessionOwner, isTest: boolean): Promise<Named[]> =>
  unwrap(await services.keys.list(owner, owner.accountId))
    .filter(({ revokedAt, livemode }) => revokedAt === undefined && (livemode === false || !isTest))
    .map(({ keyId, name }) => ({
      result: { href: `/console/keys#${keyId}`, icon: 'key-round', name, note: 'API key' },
    }))

/** None for an account with too many labels to add up. */
const labelsOf = async (
  { services, clock }: PageDependencies,
  owner: SessionOwner,
  client: WaitingClient,
): Promise<Named[]> => {
  const nowMs = clock.nowMs()
  const days = { from: dayOf(nowMs - LABEL_DAYS * DAY_MS), to: dayOf(nowMs + DAY_MS) }
  const spent = await services.usage.spending(owner, { ...days, by: 'label', limit: MAX_LABELS }, client)
  if ('refuse' in spent) return []
  return spent.value.groups.flatMap(({ name, runs }) => {
    if (name === undefined) return []
    const href = `/console/runs?${new URLSearchParams({ label: name, range: '30d' })}`
    return [{ result: { href, icon: 'layout-grid', name, note: `Runs with this label (${runs})` } }]
  })
}

const runsOf = async ({ services }: PageDependencies, owner: SessionOwner, client: WaitingClient): Promise<Named[]> => {
  const { found } = unwrap(await services.runs.listRunsWithInputs(owner, { limit: NEWEST_RUNS }, client))
  return found.flatMap(({ row, input }) => {
    const prompt = promptOf(input)
    if (prompt === undefined) return []
    const note = `Run · ${statusOf(row).word.toLowerCase()}`
    return [
      {
        result: { href: `/console/runs/${row.runId}`, icon: 'image', name: prompt.slice(0, 200), note },
        words: prompt,
      },
    ]
  })
}
