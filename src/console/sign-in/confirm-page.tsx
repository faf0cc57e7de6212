import { Button, Fault, Form } from '../parts/form.tsx'
import { SignInFrame } from './sign-in-frame.tsx'

interface ConfirmProps {
  /** The page to come back to. */
  back: string
  fault?: string
  hasTelegram: boolean
}

/** Asks the owner for a fresh code before a change that a thief of the session would make first. */
export const ConfirmPage = ({ back, fault, hasTelegram }: ConfirmProps) => (
  <SignInFrame title={fault === undefined ? 'Confirm that it is you' : 'Error: confirm that it is you'}>
    <div>
      <h1>Confirm that it is you</h1>
      <p class="muted">
        Your last code is older than an hour, and what you want to do changes who may use your account. You get another
        code at the first address of the account.
      </p>
    </div>
    <Fault text={fault} />
    <Form action="/console/confirm" class="stack">
      <input type="hidden" name="back" value={back} />
      <Button class="main big wide">Send me a code</Button>
    </Form>
    {hasTelegram && (
      <a class="button wide" href="/console/sign-in/telegram">
        Sign in again with Telegram
      </a>
    )}
    <p>
      <a href={back}>Go back without a change</a>
    </p>
  </SignInFrame>
)
