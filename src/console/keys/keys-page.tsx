import type { NamedBudget } from '../../../schemas/api/budget.ts'
import type { ApiKey } from '../../../schemas/api/key.ts'
import { Icon } from '../parts/icon.tsx'
import { Shell } from '../shell.tsx'
import { BudgetTable } from './budget-table.tsx'
import { KeyForm, type KeyFormProps } from './key-form.tsx'
import { KeyTable } from './key-table.tsx'
import { NewKey, type NewKeyProps } from './new-key.tsx'

export interface KeysProps extends KeyFormProps {
  /** The active keys, newest first. */
  keys: readonly ApiKey[]
  /** The first named budgets, by name. */
  budgets: readonly NamedBudget[]
  hasMoreBudgets: boolean
  /** A key that was just created. No other page shows it. */
  created?: NewKeyProps
  /** The name of a key that was just revoked. */
  revoked?: string | undefined
}

/** The API keys of an account, and the form for a new one. */
export const KeysPage = ({ keys, budgets, hasMoreBudgets, created, revoked, ...form }: KeysProps) => (
  <Shell title="API keys">
    <div class="page narrow stack">
      <div class="opener">
        <p class="muted">Keys open your account to programs. A key is shown once, when you create it.</p>
        <details data-focuses="name" open={Object.keys(form.faults).length > 0 || (keys.length === 0 && !created)}>
          <summary class={created ? 'button' : 'button main'}>
            <span class="row closed">
              <Icon name="plus" />
              Create new key
            </span>
            <span class="opened">Cancel</span>
          </summary>
          <section class="card" aria-label="New key">
            <div class="pad">
              <KeyForm {...form} />
            </div>
          </section>
        </details>
      </div>
      {revoked !== undefined && (
        <p class="done" role="status">
          The key “<bdi>{revoked}</bdi>” is revoked. Programs can no longer use it.
        </p>
      )}
      {created && <NewKey {...created} />}
      {keys.length > 0 ? (
        <div class="card">
          <KeyTable keys={keys} />
        </div>
      ) : (
        <p class="muted">You have no {form.isTest && 'test '}keys yet.</p>
      )}
      {budgets.length > 0 && <BudgetTable budgets={budgets} hasMore={hasMoreBudgets} />}
    </div>
  </Shell>
)
