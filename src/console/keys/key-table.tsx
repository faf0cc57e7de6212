import type { ApiKey } from '../../../schemas/api/key.ts'
import { PageContext } from '../page-state.ts'
import { OwnerOnly } from '../parts/own.tsx'
import { decimal, plural } from '../parts/text.ts'
import { Moment } from '../parts/time.tsx'

/** The active keys of an account. */
export const KeyTable = ({ keys }: { keys: readonly ApiKey[] }) => (
  <section class="scroll" aria-label="Active keys" tabindex={0}>
    <table class="fold keys-table">
      <thead>
        <tr>
          <th>Name</th>
          <th>Key</th>
          <th>Scope</th>
          <th class="num">Budget in credits</th>
          <th>Last used</th>
          <th>
            <span class="visually-hidden">Action</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {keys.map(key => (
          <tr key={key.id} id={key.id}>
            <td>
              <strong dir="auto">{key.name}</strong> {!key.livemode && <span class="badge warn plain">test</span>}
              {key.expires_at !== undefined && (
                <div class="small faint">
                  until <Moment at={key.expires_at} />
                </div>
              )}
            </td>
            <td class="mono muted">
              <span class="hide-small">{key.livemode ? 'tg_sk_live_' : 'tg_sk_test_'}</span>…{key.last_four}
            </td>
            <td class={isUsual(key) ? 'muted hide-small' : 'own-line muted'}>{abilityOf(key)}</td>
            <td class={key.budget ? 'num muted' : 'num muted hide-small'}>
              <Budget of={key} />
            </td>
            <td class="muted">
              {key.last_used_at !== undefined && <span class="when-folded">used </span>}
              <LastUse of={key} />
              {key.last_used_at === undefined && <span class="when-folded"> used</span>}
            </td>
            <td class="num">
              <OwnerOnly>
                <a
                  class="button quiet dangerous"
                  href={`/console/keys/${key.id}/revoke`}
                  aria-label={`Revoke ${key.name}`}
                  data-item
                >
                  Revoke
                </a>
              </OwnerOnly>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)

/** Phones tell only what is special about a key. */
const isUsual = ({ scope, models, addresses }: ApiKey): boolean => scope === 'full' && !models && !addresses

const abilityOf = ({ scope, livemode, models, addresses }: ApiKey): string => {
  const where = addresses ? `, from ${plural(addresses.length, 'network')}` : ''
  if (scope !== 'full') return (scope === 'read' ? 'read only' : 'manage keys only') + where
  if (models) return `run ${models.length > 2 ? plural(models.length, 'model') : models.join(' and ')}${where}`
  return (livemode ? 'run and read everything' : 'run on the sandbox') + where
}

/** The budget with its used part, as a bar too. */
const Budget = ({ of: { budget, name } }: { of: ApiKey }) => {
  if (!budget) return <>–</>
  const { credits, spent_credits: spent = 0, period } = budget
  return (
    <>
      {`${decimal(spent)} of ${decimal(credits)} a ${period}`}
      <meter
        min={0}
        max={credits}
        high={credits * 0.8}
        value={spent}
        aria-label={`The budget of ${name} that is used`}
      />
    </>
  )
}

/** The log records only the days of use, in UTC. */
const LastUse = ({ of: { last_used_at: at } }: { of: ApiKey }) => (
  <PageContext.Consumer>
    {({ nowMs }) =>
      at === undefined ? (
        'never'
      ) : (
        <time datetime={at.slice(0, 'yyyy-mm-dd'.length)} title={`${at.slice(0, 'yyyy-mm-dd'.length)} UTC`}>
          {daysAgo(Math.floor(nowMs / DAY_MS) - Math.floor(Date.parse(at) / DAY_MS))}
        </time>
      )
    }
  </PageContext.Consumer>
)

const DAY_MS = 24 * 60 * 60 * 1000

const daysAgo = (days: number): string => (days <= 0 ? 'today' : days === 1 ? 'yesterday' : `${days} days ago`)
