import { Button } from '../parts/form.tsx'

interface SearchFormProps {
  label: string
  placeholder?: string
  query?: string
  button: string
}

/** Finds anything by its ID. */
export const SearchForm = ({ label, placeholder, query, button }: SearchFormProps) => (
  <search>
    <form method="get" action="/console/search" class="row">
      <input
        type="search"
        name="q"
        required
        aria-label={label}
        placeholder={placeholder}
        value={query}
        autocomplete="off"
      />
      <Button>{button}</Button>
    </form>
  </search>
)
