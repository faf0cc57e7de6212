import type { Identity } from '../../../schemas/identity.ts'
import type { WelcomeWithheld } from '../../../schemas/registration-events.ts'
import { identityName } from '../../domain/login/identity.ts'
import { Button, Form } from '../parts/form.tsx'
import { Shell } from '../shell.tsx'

export interface SettingsProps {
  accountId: string
  identities: readonly Identity[]
  /** Why a new account got no welcome credits. */
  withheld?: WelcomeWithheld | undefined
}

/** The account of the person who is signed in. */
export const SettingsPage = ({ accountId, identities, withheld }: SettingsProps) => (
  <Shell title="Settings">
    <div class="page stack">
      {withheld && <p class="note">Your account is open, without welcome credits: {WITHHELD[withheld]}</p>}
      <p class="muted">
        Signed in as <strong>{identities[0] && identityName(identities[0])}</strong>. Account <code>{accountId}</code>
      </p>
      <section class="card">
        <div class="head">
          <h2>Ways to sign in</h2>
          <a class="button quiet" href="/console/identities">
            Add a way to sign in
          </a>
        </div>
        <div class="pad">
          <ul>
            {identities.map(identity => (
              <li key={identityName(identity)}>{identityName(identity)}</li>
            ))}
          </ul>
        </div>
      </section>
      <section class="card">
        <div class="head">
          <h2>Sign out</h2>
        </div>
        <div class="pad row wrap">
          <Form action="/console/sign-out">
            <Button>Sign out</Button>
          </Form>
          <Form action="/console/sign-out-everywhere">
            <Button>Sign out everywhere</Button>
          </Form>
        </div>
      </section>
    </div>
  </Shell>
)

const WITHHELD: Record<WelcomeWithheld, string> = {
  alias: 'another address of your mailbox has opened an account before.',
  network: 'your network has reached the limit of welcome credits for today.',
  day: 'the service has reached the limit of welcome credits for today.',
  disposable: 'addresses of this domain are disposable.',
}
