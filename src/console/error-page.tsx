import { Layout } from './layout.tsx'

interface ErrorProps {
  message: string
  requestId: string
  isSignedIn: boolean
}

/** Shows an error and a link to the account. */
export const ErrorPage = ({ message, requestId, isSignedIn }: ErrorProps) => (
  <Layout title="Error" account={isSignedIn ? 'Your account' : 'Sign in'}>
    <h1>Something went wrong</h1>
    <p role="alert">{message}</p>
    <p>
      <a href="/console">Go to your account</a>
    </p>
    <p class="soft">
      Request ID <code>{requestId}</code>
    </p>
  </Layout>
)
