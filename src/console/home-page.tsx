import type { Identity } from '../../schemas/identity.ts'
import { identityName } from '../domain/login/identity.ts'
import { Layout } from './layout.tsx'

interface HomeProps {
  accountId: string
  identities: readonly Identity[]
  balanceCredits: number
}

/** The account of the person who is signed in. */
export const HomePage = ({ accountId, identities, balanceCredits }: HomeProps) => (
  <Layout title="Your account">
    <h1>Your account</h1>
    <p>
      Signed in as <strong>{identities[0] && identityName(identities[0])}</strong>.
    </p>
    <h2>Balance</h2>
    <p class="balance">{creditsText(balanceCredits)}</p>
    <h2>Ways to sign in</h2>
    <ul>
      {identities.map(identity => (
        <li key={identityName(identity)}>{identityName(identity)}</li>
      ))}
    </ul>
    <p>
      <a href="/console/identities">Add a way to sign in</a>
    </p>
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
    <p class="soft note">
      Account <code>{accountId}</code>
    </p>
  </Layout>
)

const creditsText = (credits: number) =>
  `${credits.toLocaleString('en', { maximumFractionDigits: 6 })} ${credits === 1 ? 'credit' : 'credits'}`
