import type { Children } from '#jsx/jsx-runtime'
import { Outside } from './outside.tsx'
import { PageContext } from './page-state.ts'
import { CopyButton } from './parts/code.tsx'
import { Shell } from './shell.tsx'

interface ErrorProps {
  status: number
  message: string
  requestId: string
}

/** Shows an error, a way on, and what the operator needs to find it. */
export const ErrorPage = ({ status, message, requestId }: ErrorProps) => (
  <PageContext.Consumer>
    {({ account, isSignedIn, url }) => (
      <Frame title={titleOf(status)} isInside={account !== undefined}>
        {message !== `${titleOf(status)}.` && (
          <p {...(status === 404 ? {} : { class: 'fault', role: 'alert' })}>{message}</p>
        )}
        <div class="row wrap">
          {status >= 500 && (
            <a class="button main" href={url}>
              Try again
            </a>
          )}
          <a class="button" href={isSignedIn ? '/console/playground' : '/console/sign-in'}>
            {isSignedIn ? 'Go to the playground' : 'Sign in'}
          </a>
          <a class="button" href={isSignedIn ? '/console/search' : '/docs'}>
            {isSignedIn ? 'Search' : 'Read the documentation'}
          </a>
        </div>
        <p class="row small faint">
          <span>
            Request <code id="request-id">{requestId}</code>
          </span>
          <CopyButton of="request-id" />
        </p>
      </Frame>
    )}
  </PageContext.Consumer>
)

const Frame = ({ title, isInside, children }: { title: string; isInside: boolean; children: Children }) =>
  isInside ? (
    <Shell title={title}>
      <div class="page narrow stack">{children}</div>
    </Shell>
  ) : (
    <Outside title={title}>
      <div class="stack">
        <h1>{title}</h1>
        {children}
      </div>
    </Outside>
  )

const titleOf = (status: number): string => {
  if (status === 404) return 'There is no such page'
  if (status === 429) return 'Too many requests'
  return status >= 500 ? 'The service could not answer' : 'This did not work'
}
