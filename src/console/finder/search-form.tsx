import { Button } from '../parts/form.tsx'

interface SearchFormProps {
  label: string
  placeholder?: string
  query?: string | undefined
  button: string
  action?: string
}

/** Finds anything of the console, or what another address searches. */
export const SearchForm = ({ label, placeholder, query, button, action = '/console/search' }: SearchFormProps) => (
  <search>
    <form method="get" action={action} class="row">
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
