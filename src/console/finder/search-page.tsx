import type { Children } from '#jsx/jsx-runtime'
import { Form } from '../parts/form.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { Shell } from '../shell.tsx'
import { SearchForm } from './search-form.tsx'

/** A place that a search leads to, or an action that it offers. */
export interface SearchResult {
  href: string
  icon: IconName
  name: string
  /** What it is. */
  note: string
  /** The fields of an action, which is sent to its address. */
  sends?: Readonly<Record<string, string>>
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
        {results.length === 0 ? (
          <>
            <Nothing query={query} />
            <div class="row wrap pad">
              <a class="button" href="/console/runs?range=1y">
                Look through your runs
              </a>
              <a class="button" href="/console/playground/models">
                Choose a model
              </a>
            </div>
          </>
        ) : (
          <nav class="choices" aria-label="Results">
            {results.map((result, index) => (
              <Result key={result.href} result={result} form={`action-${index}`} attributes={{ 'data-item': true }} />
            ))}
          </nav>
        )}
        <Actions results={results} of="action" />
      </section>
    </div>
  </Shell>
)

/** The results in the finder, while somebody types. The first is selected. */
export const FinderResults = ({ query, results }: SearchProps) => (
  <>
    {results.length === 0 && <Nothing query={query} />}
    <div class="choices" role="listbox" aria-label="Results" data-query={query}>
      {results.map((result, index) => (
        <Result
          key={result.href}
          result={result}
          form={`found-action-${index}`}
          attributes={{
            ...{ id: `found-${index}`, role: 'option', tabindex: -1 },
            'aria-selected': String(index === 0),
          }}
        />
      ))}
    </div>
    <Actions results={results} of="found-action" />
  </>
)

const Nothing = ({ query }: { query: string }) => (
  <p class="pad muted" role="status">
    Nothing has the name or ID “<bdi>{query}</bdi>”.
  </p>
)

interface ResultProps {
  result: SearchResult
  /** The ID of the form of an action. */
  form: string
  attributes: Readonly<Record<string, Children>>
}

const Result = ({ result: { href, icon, name, note, sends }, form, attributes }: ResultProps) => {
  const content = (
    <>
      <Icon name={icon} />
      <span class="cut">
        <bdi>{name}</bdi>
      </span>
      <span class="end small faint">{note}</span>
    </>
  )
  return sends ? (
    <button type="submit" form={form} {...attributes}>
      {content}
    </button>
  ) : (
    <a href={href} {...attributes}>
      {content}
    </a>
  )
}

/** The forms of the actions, outside of the list, whose items may be nothing but results. */
const Actions = ({ results, of }: { results: readonly SearchResult[]; of: string }) => (
  <>
    {results.map(
      ({ href, sends }, index) =>
        sends && (
          <Form key={href} id={`${of}-${index}`} action={href}>
            {Object.entries(sends).map(([name, value]) => (
              <input key={name} type="hidden" name={name} value={value} />
            ))}
          </Form>
        ),
    )}
  </>
)
