import { Outside } from './outside.tsx'
import { CopyButton } from './parts/code.tsx'

interface ErrorProps {
  message: string
  requestId: string
  isSignedIn: boolean
  /** Whether the address leads to nothing. */
  isMissing?: boolean
}

/** Shows an error, and what the operator needs to find it. */
export const ErrorPage = ({ message, requestId, isSignedIn, isMissing = false }: ErrorProps) => (
  <Outside title={isMissing ? 'Not found' : 'Error'}>
    <div class="stack">
      <h1>{isMissing ? 'There is nothing here' : 'This did not work'}</h1>
      <p class={isMissing ? 'muted' : 'fault'} role="alert">
        {message}
      </p>
      <div class="row wrap">
        <a class="button main" href="/console">
          {isSignedIn ? 'Go to the console' : 'Sign in'}
        </a>
        {isSignedIn && (
          <a class="button" href="/console/search">
            Search
          </a>
        )}
      </div>
      <p class="row small faint">
        <span>
          Request <code id="request-id">{requestId}</code>
        </span>
        <CopyButton of="request-id" />
      </p>
    </div>
  </Outside>
)
