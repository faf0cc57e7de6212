import type { ApiKey } from '../../../schemas/api/key.ts'

/** The active keys of an account. */
export const KeyTable = ({ keys }: { keys: readonly ApiKey[] }) =>
  keys.length === 0 ? (
    <p class="muted">Programs use your account with an API key. You have no keys yet: create the first one.</p>
  ) : (
    <section class="card scroll" aria-label="Active keys" tabindex={0}>
      <table>
        <thead>
          <tr>
            <th>Name</th>
            <th>Key</th>
            <th class="hide-small">Permissions</th>
            <th class="hide-small">Last used</th>
            <th class="num">Action</th>
          </tr>
        </thead>
        <tbody>
          {keys.map(key => (
            <tr key={key.id}>
              <td>
                <strong>{key.name}</strong> {!key.livemode && <span class="badge warn plain">test</span>}
              </td>
              <td>
                <code class="muted">…{key.last_four}</code>
              </td>
              <td class="hide-small muted">{abilities[key.scope]}</td>
              <td class="hide-small muted">{lastUse(key)}</td>
              <td class="num">
                <a class="button quiet red" href={`/console/keys/${key.id}/revoke`} aria-label={`Revoke ${key.name}`}>
                  Revoke
                </a>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )

/** The abilities of keys by scope. */
const abilities: Record<ApiKey['scope'], string> = {
  full: 'run and read everything',
  read: 'read only',
  keys: 'manage keys only',
}

/** The log records only the days of use, in UTC. */
const lastUse = ({ last_used_at: at }: ApiKey) => (at === undefined ? 'never' : at.slice(0, 10))
