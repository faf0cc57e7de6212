import { Button, Fault, Form } from '../parts/form.tsx'
import { SignInFrame } from './sign-in-frame.tsx'

interface FirstSignInProps {
  email: string
  codeId: string
  code: string
}

/** The page of the link that the first start shows. */
export const FirstSignInPage = ({ email, codeId, code }: FirstSignInProps) => (
  <SignInFrame title="Your service is running">
    <div>
      <h1>Your service is running</h1>
      <p class="muted">This opens the console of its first account, with credits to try every model.</p>
    </div>
    <Form action="/console/sign-in/first" class="stack">
      <input type="hidden" name="id" value={codeId} />
      <input type="hidden" name="code" value={code} />
      <Button class="main big wide">Sign in as {email}</Button>
    </Form>
    <p class="small faint">The link works once, within ten minutes of the first start.</p>
  </SignInFrame>
)

interface UsedLinkProps {
  email: string
  fault: string
  /** The folder that mail is written to, if it goes no further. */
  folder: string | undefined
}

/** Says how to sign in when the link no longer does. */
export const UsedLinkPage = ({ email, fault, folder }: UsedLinkProps) => (
  <SignInFrame title="Error: this link no longer works">
    <h1>This link no longer works</h1>
    <Fault text={fault} />
    <p>
      Sign in with the address <strong>{email}</strong> instead.{' '}
      {folder === undefined ? (
        'You get a code by mail.'
      ) : (
        <>
          The code is then in the newest file in <code>{folder}</code>, on the machine of the service.
        </>
      )}
    </p>
    <p>
      <a class="button main big wide" href="/console/sign-in">
        Sign in with a code
      </a>
    </p>
  </SignInFrame>
)
