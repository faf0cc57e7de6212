import type { SearchResult } from '../../../console/finder/search-page.tsx'

export interface Named {
  result: SearchResult
  /** The words that find it, if they are more than its name. */
  words?: string
}

/** What a query finds, the best first. */
export const matching = (all: readonly Named[], query: string) =>
  all
    .flatMap(({ result, words = result.name }) => {
      const rank = rankOf(words, query)
      return rank === undefined ? [] : [{ result, rank }]
    })
    .sort((one, other) => one.rank - other.rank)

/** The first result for each address. */
export const distinct = <Result extends SearchResult>(results: readonly Result[]): Result[] => {
  const hrefs = new Set<string>()
  return results.filter(({ href }) => !hrefs.has(href) && hrefs.add(href))
}

/** Names that begin with the query come first, then those with its words at the start of theirs, then in them. */
const rankOf = (name: string, query: string): number | undefined => {
  const [text, asked] = [name.toLowerCase(), query.toLowerCase()]
  if (text.startsWith(asked)) return 0
  const parts = asked.split(/\s+/)
  // Signs are in every path.
  if (!/[\p{L}\p{N}]/u.test(asked)) return undefined
  const words = text.split(/[^\p{L}\p{M}\p{N}]+/u)
  if (parts.every(part => words.some(word => word.startsWith(part)))) return 1
  return parts.every(part => text.includes(part)) ? 2 : undefined
}
