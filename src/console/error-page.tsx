import { Outside } from './outside.tsx'
import { CopyButton } from './parts/code.tsx'

interface ErrorProps {
  message: string
  requestId: string
  isSignedIn: boolean
}

/** Shows an error, and what the operator needs to find it. */
export const ErrorPage = ({ message, requestId, isSignedIn }: ErrorProps) => (
  <Outside title="Error">
    <div class="stack">
      <h1>This did not work</h1>
      <p class="fault" role="alert">
        {message}
      </p>
      <p>
        <a class="button" href="/console">
          {isSignedIn ? 'Go to the console' : 'Sign in'}
        </a>
      </p>
      <p class="row small faint">
        <span>
          Request <code id="request-id">{requestId}</code>
        </span>
        <CopyButton of="request-id" />
      </p>
    </div>
  </Outside>
)
