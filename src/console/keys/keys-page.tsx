import type { ApiKey } from '../../../schemas/api/key.ts'
import { Shell } from '../shell.tsx'
import { KeyForm, type KeyFormProps } from './key-form.tsx'
import { KeyTable } from './key-table.tsx'

export interface KeysProps extends KeyFormProps {
  /** The active keys, newest first. */
  keys: readonly ApiKey[]
}

/** The API keys of an account, and the form for a new one. */
export const KeysPage = ({ keys, ...entered }: KeysProps) => (
  <Shell title="API keys">
    <div class="page two">
      <div class="stack">
        <p class="muted">Keys open your account to programs. A key is shown once, when you create it.</p>
        <KeyTable keys={keys} />
      </div>
      <section class="card">
        <div class="head">
          <h2>Create new key</h2>
        </div>
        <div class="pad">
          <KeyForm {...entered} />
        </div>
      </section>
    </div>
  </Shell>
)
