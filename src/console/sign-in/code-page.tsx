import { Button, Field, Form, faulty } from '../parts/form.tsx'
import { SignInFrame } from './sign-in-frame.tsx'

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
  /** The page to go to afterwards, if the route asks for it. */
  next?: string
  purpose: keyof typeof PURPOSES
}

/** What a code is for. A page that sends codes does not reveal whether the address has an account. */
const PURPOSES = {
  'sign in': { button: 'Sign in', condition: 'can sign in here', text: 'Enter it to sign in.' },
  confirm: {
    button: 'Confirm',
    condition: 'is an address of your account',
    text: 'Enter it to confirm that it is you.',
  },
  'add an address': {
    button: 'Add the address',
    condition: 'can be added',
    text: 'Enter it to add the address to your account.',
  },
}

/** Letters of a code, without its hyphen. */
const LETTERS = 8

/** Asks for the code that was sent. */
export const CodePage = ({
  email,
  hasEarlier,
  minutes,
  fault,
  isBusy,
  folder,
  action,
  back,
  next,
  purpose,
}: CodeProps) => (
  <SignInFrame title={fault === undefined ? 'Enter the code' : 'Error: enter the code'}>
    <div>
      <h1>Check your mail</h1>
      <p class="muted">
        If <strong>{email}</strong> {PURPOSES[purpose].condition}, a code is on its way. {PURPOSES[purpose].text} It is
        valid for {minutes} minutes
        {hasEarlier && ', and so is the code that you requested before'}.
      </p>
    </div>
    {isBusy && (
      <p class="note">
        Too many people are signing in at the moment. If you have signed in before, a code is on its way. If you are
        new, <a href={back}>request another code</a> in a minute.
      </p>
    )}
    {folder !== undefined && (
      <p class="note">
        This service has no mail server: the code is in the newest file in <code>{folder}</code>, on the machine of the
        service.
      </p>
    )}
    <Form action={action} class="stack">
      {next !== undefined && <input type="hidden" name="back" value={next} />}
      <Field id="code" label="Code" hint="eight letters" fault={fault}>
        <div class="code-entry">
          <span class="boxes" aria-hidden="true">
            {Array.from({ length: LETTERS }, (_, at) => (
              <i key={at} />
            ))}
          </span>
          <input
            id="code"
            name="code"
            required
            maxlength={20}
            autocomplete="one-time-code"
            autocapitalize="characters"
            spellcheck={false}
            autofocus
            {...faulty('code', fault)}
          />
        </div>
      </Field>
      <Button class="main big wide">{PURPOSES[purpose].button}</Button>
    </Form>
    <p class="small faint">
      No code after a minute? Look in your spam folder, or <a href={back}>request another code</a>
      {purpose === 'confirm' ? '.' : ', also for another address.'}
    </p>
  </SignInFrame>
)
