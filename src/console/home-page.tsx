import type { ApiKey } from '../../schemas/api/key.ts'
import type { Identity } from '../../schemas/identity.ts'
import type { WelcomeWithheld } from '../../schemas/registration-events.ts'
import { identityName } from '../domain/login/identity.ts'
import { KeyForm, type KeyFormProps } from './key-form.tsx'
import { KeyTable } from './key-table.tsx'
import { Fault, Layout } from './layout.tsx'

export interface HomeProps extends Omit<KeyFormProps, 'fault'> {
  accountId: string
  identities: readonly Identity[]
  balanceCredits: number
  /** The active keys, newest first. */
  keys: readonly ApiKey[]
  /** The fault in the form for a new key. */
  fault?: string | undefined
  /** Why a new account got no welcome credits. */
  withheld?: WelcomeWithheld | undefined
}

/** The account of the person who is signed in. */
export const HomePage = ({ accountId, identities, balanceCredits, keys, fault, withheld, ...entered }: HomeProps) => (
  <Layout title={fault === undefined ? 'Your account' : 'Error: your account'} width="page" account="Your account">
    <h1>Your account</h1>
    {withheld && <p class="card">Your account is open, without welcome credits: {WITHHELD[withheld]}</p>}
    <p class="soft">
      Signed in as <strong>{identities[0] && identityName(identities[0])}</strong>. The{' '}
      <a href="/docs">API reference</a> works without a key while you are signed in.
    </p>
    <div class="two">
      <div class="stack">
        <section class="stack">
          <h2>API keys</h2>
          <KeyTable keys={keys} />
        </section>
        <section class="card">
          <h2>Create new key</h2>
          <Fault text={fault} />
          <KeyForm {...entered} fault={fault} />
        </section>
      </div>
      <div class="stack">
        <section class="card">
          <h2>Balance</h2>
          <p class="figure">{creditsText(balanceCredits)}</p>
        </section>
        <section class="card">
          <h2>Ways to sign in</h2>
          <ul>
            {identities.map(identity => (
              <li key={identityName(identity)}>{identityName(identity)}</li>
            ))}
          </ul>
          <p>
            <a href="/console/identities">Add a way to sign in</a>
          </p>
        </section>
        <section class="card">
          <h2>Sign out</h2>
          <div class="row">
            <form method="post" action="/console/sign-out">
              <button type="submit" class="quiet">
                Sign out
              </button>
            </form>
            <form method="post" action="/console/sign-out-everywhere">
              <button type="submit" class="quiet">
                Sign out everywhere
              </button>
            </form>
          </div>
          <p class="small">
            Account <code>{accountId}</code>
          </p>
        </section>
      </div>
    </div>
  </Layout>
)

const WITHHELD: Record<WelcomeWithheld, string> = {
  alias: 'another address of your mailbox has opened an account before.',
  network: 'your network has reached the limit of welcome credits for today.',
  day: 'the service has reached the limit of welcome credits for today.',
  disposable: 'addresses of this domain are disposable.',
}

const creditsText = (credits: number) =>
  `${credits.toLocaleString('en', { maximumFractionDigits: 6 })} ${credits === 1 ? 'credit' : 'credits'}`
