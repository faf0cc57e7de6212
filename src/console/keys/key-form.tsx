import { MAX_NAME_LENGTH } from '../../../schemas/primitives.ts'
import { Button, Field, Form, faulty } from '../parts/form.tsx'

export interface KeyFormProps {
  /** The values that the person entered, if the form has a fault. */
  name?: string | undefined
  scope?: string | undefined
  isTest?: boolean | undefined
  fault?: string | undefined
}

/** The form for a new key: its name, its scope and its mode. */
export const KeyForm = ({ name = '', scope = 'full', isTest = false, fault }: KeyFormProps) => (
  <Form action="/console/keys" class="stack">
    <Field id="name" label="Name" hint="the program that will use it, such as “website”" fault={fault}>
      <input
        id="name"
        name="name"
        required
        maxlength={MAX_NAME_LENGTH}
        autocomplete="off"
        value={name}
        {...faulty('name', fault)}
      />
    </Field>
    <fieldset class="field">
      <legend>Permissions</legend>
      {choices.map(({ value, label, note }) => (
        <label class="choice" key={value}>
          <input type="radio" name="scope" value={value} checked={scope === value} />
          {label}
          <span class="hint">{note}</span>
        </label>
      ))}
    </fieldset>
    <label class="choice">
      <input type="checkbox" name="test" value="on" checked={isTest} />
      Test key
      <span class="hint">The sandbox does the runs of a test key. They cost nothing.</span>
    </label>
    <Button class="main">Create new key</Button>
  </Form>
)

const choices = [
  { value: 'full', label: 'Run and read everything', note: 'All of the API, except for managing keys.' },
  { value: 'read', label: 'Read only', note: 'Runs, balance and ledger. The key cannot spend credits.' },
  { value: 'keys', label: 'Manage keys only', note: 'Create and revoke other keys.' },
]
