import type { ApiKey } from '../../schemas/api/key.ts'
import { Layout } from './layout.tsx'

/** Asks before a key is revoked. */
export const RevokeKeyPage = ({ apiKey: { id, name, last_four: lastFour } }: { apiKey: ApiKey }) => (
  <Layout title="Revoke a key" account="Your account">
    <h1>Revoke “{name}”?</h1>
    <p>
      Within a second, programs can no longer use the key ending in <code>{lastFour}</code>. Its runs continue. You
      cannot undo this.
    </p>
    <div class="row">
      <form method="post" action={`/console/keys/${id}/revoke`}>
        <button type="submit" class="red">
          Revoke key
        </button>
      </form>
      <a class="button quiet" href="/console">
        Keep key
      </a>
    </div>
  </Layout>
)
