import type { ApiKey } from '../../../schemas/api/key.ts'
import { Button, Field, Form, faulty } from '../parts/form.tsx'
import { Shell } from '../shell.tsx'

interface RevokeKeyProps {
  apiKey: ApiKey
  /** Whether programs have used it in the last day, so that its name must be entered. */
  isInUse: boolean
  fault?: string | undefined
}

/** Asks before a key is revoked. */
export const RevokeKeyPage = ({ apiKey: { id, name, last_four: lastFour }, isInUse, fault }: RevokeKeyProps) => (
  <Shell title="Revoke a key">
    <div class="page narrow stack">
      <section class="card form-card">
        <div class="head">
          <h2>
            Revoke “<bdi>{name}</bdi>”?
          </h2>
        </div>
        <div class="pad stack">
          <p>
            Within a second, programs can no longer use the key ending in <code>{lastFour}</code>. Its runs continue.
            You cannot undo this.
          </p>
          <Form action={`/console/keys/${id}/revoke`} class="stack">
            {isInUse && (
              <Field
                id="name"
                label={
                  <span>
                    This key was used in the last day. To revoke it, enter its name: “<bdi>{name}</bdi>”
                  </span>
                }
                fault={fault}
              >
                <input
                  {...{ id: 'name', name: 'name', required: true, autocomplete: 'off', dir: 'auto', autofocus: true }}
                  {...faulty('name', fault)}
                />
              </Field>
            )}
            <div class="row">
              <Button class="danger">Revoke key</Button>
              <a class="button quiet" href="/console/keys">
                Keep key
              </a>
            </div>
          </Form>
        </div>
      </section>
    </div>
  </Shell>
)
