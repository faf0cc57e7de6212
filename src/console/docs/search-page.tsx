import type { SearchResult } from '../finder/search-page.tsx'
import { Icon } from '../parts/icon.tsx'
import { DocsFrame } from './docs-frame.tsx'
import { DocsSearch } from './docs-search.tsx'
import { GuideSide } from './guide-pages.tsx'
import type { Shelf } from './library.ts'
import { DOCS, REFERENCE } from './paths.ts'

/** A result with a part of the text that has the words. */
export interface DocsResult extends SearchResult {
  snippet?: string
}

interface DocsSearchProps {
  shelves: readonly Shelf[]
  query: string
  results: readonly DocsResult[]
}

/** The guides, sections and requests that a query finds. */
export const DocsSearchPage = ({ shelves, query, results }: DocsSearchProps) => (
  <DocsFrame title="Search" side={<GuideSide shelves={shelves} />}>
    <div class="docs-index">
      <h1>Search</h1>
      <DocsSearch query={query} />
      {results.length > 0 && (
        <nav class="card choices results" aria-label="Results">
          {results.map(({ href, icon, name, note, snippet }) => (
            <a key={href} href={href} data-item>
              <Icon name={icon} />
              <span class="cut">
                {name}
                {snippet && <span class="small muted snippet">{snippet}</span>}
              </span>
              <span class="end small faint">{note}</span>
            </a>
          ))}
        </nav>
      )}
      {query !== '' && results.length === 0 && (
        <p class="muted">
          No page has all words of “<bdi>{query}</bdi>”. <a href={DOCS}>All guides</a>,{' '}
          <a href={REFERENCE}>all requests</a>.
        </p>
      )}
    </div>
  </DocsFrame>
)
