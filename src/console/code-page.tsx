import { Fault, faulty, Layout } from './layout.tsx'

interface CodeProps {
  email: string
  /** Whether the previous code is still valid. */
  hasEarlier: boolean
  minutes: number
  fault?: string | undefined
  /** Whether only people with an account get codes at the moment. */
  isBusy: boolean
  /** The folder that holds the mail of a service without a mail server. */
  folder: string | undefined
  /** The route that checks the code. */
  action: string
  /** The page that requests another code. */
  back: string
  account: 'Your account' | 'Sign in'
  button: string
}

/** Asks for the code that was sent. The page does not reveal whether the address has an account. */
export const CodePage = ({
  email,
  hasEarlier,
  minutes,
  fault,
  isBusy,
  folder,
  action,
  back,
  account,
  button,
}: CodeProps) => (
  <Layout title={fault === undefined ? 'Enter the code' : 'Error: enter the code'} account={account}>
    <h1>Enter the code</h1>
    <Fault text={fault} />
    <p>
      If <strong>{email}</strong> can sign in here, a code is on its way. The code is valid for {minutes} minutes
      {hasEarlier && ', and so is the code that you requested before'}.
    </p>
    {isBusy && (
      <p>
        Too many people are signing in at the moment. If you have signed in before, a code is on its way. If you are
        new, <a href={back}>request another code</a> in a minute.
      </p>
    )}
    {folder !== undefined && (
      <p>
        This service has no mail server: the code is in the newest file in <code>{folder}</code>, on the machine of the
        service.
      </p>
    )}
    <form method="post" action={action}>
      <label for="code">
        Code <span class="small">such as WDJB-MJHT</span>
      </label>
      <input
        id="code"
        name="code"
        class="code"
        required
        maxlength={20}
        autocomplete="one-time-code"
        autocapitalize="characters"
        spellcheck={false}
        autofocus
        {...faulty(fault)}
      />
      <button type="submit">{button}</button>
    </form>
    <p class="soft">
      No code after a minute? Look in your spam folder, or <a href={back}>request another code</a>.
    </p>
  </Layout>
)
