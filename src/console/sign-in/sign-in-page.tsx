import { AddressForm } from './address-form.tsx'
import { SignInFrame } from './sign-in-frame.tsx'

interface SignInProps {
  email?: string | undefined
  fault?: string | undefined
  /** Who may open an account. */
  registration: RegistrationNote
  hasTelegram: boolean
}

export interface RegistrationNote {
  mode: 'open' | 'invite' | 'closed'
  domains: readonly string[] | undefined
  welcomeCredits: number
}

/** Asks for the e-mail address that receives a code. The same form opens accounts. */
export const SignInPage = ({ email, fault, registration, hasTelegram }: SignInProps) => (
  <SignInFrame title={fault === undefined ? 'Sign in' : 'Error: sign in'}>
    <div>
      <h1>Sign in</h1>
      <p class="muted">You get a code by e-mail. There is no password.</p>
    </div>
    <AddressForm action="/console/sign-in" button="Send me a code" email={email} fault={fault} />
    {hasTelegram && (
      <a class="button wide" href="/console/sign-in/telegram">
        Sign in with Telegram
      </a>
    )}
    <p class="small faint">{noteOn(registration)}</p>
  </SignInFrame>
)

const noteOn = ({ mode, domains, welcomeCredits }: RegistrationNote): string => {
  if (mode === 'closed') return 'This service opens no new accounts. Codes are sent only to addresses with an account.'
  if (mode === 'invite')
    return 'New accounts are by invitation only. Codes are sent only to addresses that have an account or were invited.'
  const gift = welcomeCredits > 0 ? ` with ${welcomeCredits} credits` : ''
  const opening = `If you are new, your first sign-in opens an account${gift}.`
  if (domains === undefined) return opening
  const ends = domains.map(each => `@${each}`).join(', ')
  return `${opening} Codes are sent only to addresses that have an account, were invited, or end in ${ends}.`
}
