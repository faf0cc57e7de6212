import { MAX_NAME_LENGTH } from '../../schemas/primitives.ts'
import { faulty } from './layout.tsx'

export interface KeyFormProps {
  /** The values that the person entered, if the form has a fault. */
  name?: string | undefined
  scope?: string | undefined
  isTest?: boolean | undefined
  fault?: string | undefined
}

/** The form for a new key: its name, its scope and its mode. */
export const KeyForm = ({ name = '', scope = 'full', isTest = false, fault }: KeyFormProps) => (
  <form method="post" action="/console/keys">
    <div>
      <label for="name">
        Name <span class="small">such as “website”: the program that will use it</span>
      </label>
      <input
        id="name"
        name="name"
        required
        maxlength={MAX_NAME_LENGTH}
        autocomplete="off"
        value={name}
        {...faulty(fault)}
      />
    </div>
    <fieldset>
      <legend>Permissions</legend>
      {choices.map(({ value, label, note }) => (
        <label class="choice" key={value}>
          <input type="radio" name="scope" value={value} checked={scope === value} />
          {label}
          <span class="small">{note}</span>
        </label>
      ))}
    </fieldset>
    <label class="choice">
      <input type="checkbox" name="test" value="on" checked={isTest} />
      Test key
      <span class="small">The sandbox does the runs of a test key. They cost nothing.</span>
    </label>
    <button type="submit">Create new key</button>
  </form>
)

const choices = [
  { value: 'full', label: 'Run and read everything', note: 'All of the API, except for managing keys.' },
  { value: 'read', label: 'Read only', note: 'Runs, balance and ledger. The key cannot spend credits.' },
  { value: 'keys', label: 'Manage keys only', note: 'Create and revoke other keys.' },
]
