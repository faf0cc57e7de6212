import { Icon, type IconName } from '../parts/icon.tsx'
import { Shell } from '../shell.tsx'
import { SearchForm } from './search-form.tsx'

/** A place that a search leads to. */
export interface SearchResult {
  href: string
  icon: IconName
  name: string
  /** What it is. */
  note: string
}

interface SearchProps {
  query: string
  results: readonly SearchResult[]
}

/** The results of a search. */
export const SearchPage = ({ query, results }: SearchProps) => (
  <Shell title="Search">
    <div class="page stack">
      <SearchForm label="Search, or paste any ID" query={query} button="Search" />
      <section class="card" aria-label="Results">
        <SearchResults query={query} results={results} />
      </section>
    </div>
  </Shell>
)

/** It is a fragment, too: the finder shows it while somebody types. */
export const SearchResults = ({ query, results }: SearchProps) =>
  results.length === 0 ? (
    <p class="pad muted" role="status">
      Nothing has the name or ID “<bdi>{query}</bdi>”.
    </p>
  ) : (
    <nav class="choices" aria-label="Results">
      {results.map(({ href, icon, name, note }) => (
        <a key={href} href={href} data-item>
          <Icon name={icon} />
          <span class="cut">
            <bdi>{name}</bdi>
          </span>
          <span class="end small faint">{note}</span>
        </a>
      ))}
    </nav>
  )
