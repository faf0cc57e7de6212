import type { ApiKey } from '../../../schemas/api/key.ts'
import { Button, Form } from '../parts/form.tsx'
import { Shell } from '../shell.tsx'

/** Asks before a key is revoked. */
export const RevokeKeyPage = ({ apiKey: { id, name, last_four: lastFour } }: { apiKey: ApiKey }) => (
  <Shell title="Revoke a key">
    <div class="page stack">
      <h2>Revoke “{name}”?</h2>
      <p>
        Within a second, programs can no longer use the key ending in <code>{lastFour}</code>. Its runs continue. You
        cannot undo this.
      </p>
      <div class="row">
        <Form action={`/console/keys/${id}/revoke`}>
          <Button class="danger">Revoke key</Button>
        </Form>
        <a class="button quiet" href="/console/keys">
          Keep key
        </a>
      </div>
    </div>
  </Shell>
)
