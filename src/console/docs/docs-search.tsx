import { SearchForm } from '../finder/search-form.tsx'
import { DOCS_SEARCH } from './paths.ts'

/** Works without a script, and without an account. */
export const DocsSearch = ({ query }: { query?: string }) => (
  <SearchForm
    action={DOCS_SEARCH}
    label="Search the documentation"
    placeholder="Words of a guide, a request or its path"
    query={query}
    button="Search"
  />
)
