import type { Identity } from '../../../schemas/identity.ts'
import type { WelcomeWithheld } from '../../../schemas/registration-events.ts'
import { identityName } from '../../domain/login/identity.ts'
import { Button, Form } from '../parts/form.tsx'
import { OwnerOnly } from '../parts/own.tsx'
import { Shell } from '../shell.tsx'
import { Limits, type LimitsProps } from './limits.tsx'
import { type NoticeFormProps, NoticesCard } from './notices-card.tsx'
import { type SessionItem, SessionTable } from './session-table.tsx'

export interface SettingsProps {
  accountId: string
  identities: readonly Identity[]
  sessions: readonly SessionItem[]
  limits: LimitsProps
  notices: NoticeFormProps
  /** Why a new account got no welcome credits. */
  withheld?: WelcomeWithheld | undefined
}

/** The account of the person who is signed in, and who else may use it. */
export const SettingsPage = ({ accountId, identities, sessions, limits, notices, withheld }: SettingsProps) => (
  <Shell title="Settings">
    <div class="page narrow stack">
      {withheld && <p class="note">Your account is open, without welcome credits: {WITHHELD[withheld]}</p>}
      <div class="row wrap between">
        <p class="muted">
          Signed in as <strong dir="auto">{identities[0] && identityName(identities[0])}</strong>. Account{' '}
          <code>{accountId}</code>
        </p>
        <Form action="/console/sign-out">
          <Button>Sign out</Button>
        </Form>
      </div>
      <section class="card" aria-labelledby="identities">
        <div class="head">
          <h2 id="identities">Ways to sign in</h2>
          <a class="button" href="/console/identities">
            Add a way to sign in
          </a>
        </div>
        <ul class="rows">
          {identities.map(identity => (
            <li key={identityName(identity)} dir="auto">
              {identityName(identity)}
            </li>
          ))}
        </ul>
      </section>
      <SessionTable sessions={sessions} />
      <NoticesCard {...notices} />
      <Limits {...limits} />
      <OwnerOnly>
        <p>
          <a class="button quiet red" href="/console/settings/erase">
            Erase this account
          </a>
        </p>
      </OwnerOnly>
    </div>
  </Shell>
)

const WITHHELD: Record<WelcomeWithheld, string> = {
  alias: 'an address of your mailbox has opened an account before.',
  network: 'your network has reached the limit of welcome credits for today.',
  day: 'the service has reached the limit of welcome credits for today.',
  disposable: 'addresses of this domain are disposable.',
}
