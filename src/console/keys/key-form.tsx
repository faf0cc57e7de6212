import { MAX_NAME_LENGTH } from '../../../schemas/primitives.ts'
import { Button, Fault, Field, Form, faulty, Segments } from '../parts/form.tsx'

/** The fields of the form as texts. */
export interface KeyFields {
  name: string
  scope: string
  mode: 'live' | 'test'
  budget: string
  period: string
  models: readonly string[]
  /** Addresses and ranges, one a line. */
  addresses: string
  /** The last day of the key. */
  expires: string
}

/** The faults of the fields, or of the whole form. */
export type KeyFaults = Partial<
  Record<'form' | 'name' | 'scope' | 'budget' | 'models' | 'addresses' | 'expires', string>
>

export interface KeyFormProps {
  /** What the person entered, if the form has a fault. */
  entered: KeyFields
  faults: KeyFaults
  /** The families that a key can be restricted to. */
  families: readonly { id: string; name: string }[]
  /** Whether the session is in test mode, in which it creates only test keys. */
  isTest: boolean
}

/** An empty form. */
export const newKeyFields = (isTest: boolean): KeyFields => ({
  ...{ name: '', scope: 'full', mode: isTest ? 'test' : 'live', budget: '', period: 'month' },
  ...{ models: [], addresses: '', expires: '' },
})

/** The form for a new key: what it is for, what it may do, and what it may spend. */
export const KeyForm = ({ entered, faults, families, isTest }: KeyFormProps) => {
  const { name, scope, mode, budget, period, models, addresses, expires } = entered
  const isLimited = [models.length > 0, addresses, expires, faults.models, faults.addresses, faults.expires].some(
    Boolean,
  )
  return (
    <Form action="/console/keys" class="stack">
      <Fault text={faults.form} />
      <div class="halves">
        <Field id="name" label="Name" hint="the program that will use it" fault={faults.name}>
          <input
            id="name"
            name="name"
            required
            maxlength={MAX_NAME_LENGTH}
            autocomplete="off"
            placeholder="website"
            dir="auto"
            value={name}
            {...faulty('name', faults.name)}
          />
        </Field>
        <div class="stack">
          <Segments
            name="mode"
            label="Mode"
            options={modes.filter(({ value }) => value === 'test' || !isTest)}
            value={mode}
          />
          <p class="hint">The sandbox does the runs of a test key. They cost nothing.</p>
        </div>
      </div>
      <fieldset class="field">
        <legend>What it may do</legend>
        <div class="halves choices">
          {scopes.map(({ value, label, note }) => (
            <label class="choice" key={value}>
              <input type="radio" name="scope" value={value} checked={scope === value} />
              {label}
              <span class="hint">{note}</span>
            </label>
          ))}
        </div>
        {faults.scope && (
          <p class="fault" role="alert">
            {faults.scope}
          </p>
        )}
      </fieldset>
      <div class="budget">
        <Field id="budget" label="Budget in credits" fault={faults.budget}>
          <input
            id="budget"
            name="budget"
            inputmode="decimal"
            autocomplete="off"
            placeholder="No budget: it may spend the whole balance"
            value={budget}
            {...faulty('budget', faults.budget)}
          />
        </Field>
        <Segments name="period" label="Every" options={periods} value={period} />
      </div>
      <details open={isLimited}>
        <summary>More limits: models, addresses, expiry</summary>
        <div class="stack more-limits">
          <fieldset class="field">
            <legend>
              Models <span class="hint">all, if none is chosen</span>
            </legend>
            <div class="options" tabindex={0}>
              {families.map(family => (
                <label class="choice" key={family.id}>
                  <input type="checkbox" name="models" value={family.id} checked={models.includes(family.id)} />
                  {family.name}
                </label>
              ))}
            </div>
            {faults.models && (
              <p class="fault" role="alert">
                {faults.models}
              </p>
            )}
          </fieldset>
          <div class="halves">
            <Field id="addresses" label="Addresses" hint="one a line" fault={faults.addresses}>
              <textarea
                id="addresses"
                name="addresses"
                rows={2}
                spellcheck={false}
                placeholder={'Any address\n203.0.113.0/24'}
                {...faulty('addresses', faults.addresses)}
              >
                {addresses}
              </textarea>
            </Field>
            <Field id="expires" label="Last day" hint="in UTC; empty for no end" fault={faults.expires}>
              <input id="expires" name="expires" type="date" value={expires} {...faulty('expires', faults.expires)} />
            </Field>
          </div>
        </div>
      </details>
      <div class="row">
        <Button class="main big">Create new key</Button>
      </div>
    </Form>
  )
}

const modes = [
  { value: 'live', label: 'Live' },
  { value: 'test', label: 'Test' },
]

const periods = [
  { value: 'day', label: 'Day' },
  { value: 'week', label: 'Week' },
  { value: 'month', label: 'Month' },
]

const scopes = [
  { value: 'full', label: 'Run and read everything', note: 'All of the API, except for managing keys.' },
  { value: 'read', label: 'Read only', note: 'Runs, balance and ledger. It cannot spend credits.' },
  { value: 'keys', label: 'Manage keys only', note: 'Create and revoke other keys.' },
]
