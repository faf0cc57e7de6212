import type { SearchResult } from '../../../console/finder/search-page.tsx'
import { navigation } from '../../../console/navigation.ts'
import { CATALOG } from '../../../console/operator/catalog-page.tsx'
import { promptOf, statusOf } from '../../../console/runs/run-words.ts'
import { DAY_MS, dayOf } from '../../../domain/days.ts'
import { modeOf, type SessionOwner } from '../../../services/caller.ts'
import type { WaitingClient } from '../../../services/views/newest-first.ts'
import { unwrap } from '../../../transports/refusals.ts'
import type { PageDependencies } from './dependencies.ts'

/** Results of a kind. Who has more types more. */
const MAX_OF_KIND = 5

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
  const [models, keys, labels, runs] = await Promise.all([
    modelsOf(dependencies, owner, isOperator),
    keysOf(dependencies, owner, isTest),
    isTest ? [] : labelsOf(dependencies, owner, client),
    runsOf(dependencies, owner, client),
  ])
  const kinds = [fixed, models, keys, labels].map(kind => matching(kind, query))
  return [
    ...kinds
      .flatMap((kind, index) => kind.slice(0, index === 0 ? undefined : MAX_OF_KIND))
      .sort((one, other) => one.rank - other.rank),
    // Prompts have most words, and would come before the names.
    ...matching(runs, query).slice(0, MAX_OF_KIND),
  ].map(({ result }) => result)
}

interface Named {
  result: SearchResult
  /** The words that find it, if they are more than its name. */
  words?: string
}

const matching = (all: readonly Named[], query: string) =>
  all
    .flatMap(({ result, words = result.name }) => {
      const rank = rankOf(words, query)
      return rank === undefined ? [] : [{ result, rank }]
    })
    .sort((one, other) => one.rank - other.rank)

/** Names that begin with the query come first, then those with its words at the start of theirs, then in them. */
const rankOf = (name: string, query: string): number | undefined => {
  const [text, asked] = [name.toLowerCase(), query.toLowerCase()]
  if (text.startsWith(asked)) return 0
  const parts = asked.split(/\s+/)
  const words = text.split(/[^\p{L}\p{M}\p{N}]+/u)
  if (parts.every(part => words.some(word => word.startsWith(part)))) return 1
  return parts.every(part => text.includes(part)) ? 2 : undefined
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

const modelsOf = async ({ services }: PageDependencies, owner: SessionOwner, isOperator: boolean): Promise<Named[]> =>
  unwrap(await services.catalog.list(owner)).flatMap(({ family: { id, name, aliases } }) => {
    const words = [name, id, ...aliases].join(' ')
    const model: SearchResult = { href: `/console/playground?model=${id}`, icon: 'play', name, note: 'Run this model' }
    const prices: SearchResult = { href: `${CATALOG}/${id}`, icon: 'package', name, note: 'Its prices' }
    return [{ result: model, words }, ...(isOperator ? [{ result: prices, words }] : [])]
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
