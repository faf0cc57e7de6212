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
  next,
  button,
}: CodeProps) => (
  <SignInFrame title={fault === undefined ? 'Enter the code' : 'Error: enter the code'}>
    <div>
      <h1>Check your mail</h1>
      <p class="muted">
        If <strong>{email}</strong> can sign in here, a code is on its way. The code is valid for {minutes} minutes
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
      <Field id="code" label="Code" hint="such as WDJB-MJHT" fault={fault}>
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
          {...faulty('code', fault)}
        />
      </Field>
      <Button class="main big wide">{button}</Button>
    </Form>
    <p class="small faint">
      No code after a minute? Look in your spam folder, or <a href={back}>request another code</a>, also for another
      address.
    </p>
  </SignInFrame>
)
