import type { Children } from '#jsx/jsx-runtime'
import { PageContext } from '../page-state.ts'

/** Gives its content the addresses of pages of the account, which operators find below the page of the account. */
export const Placed = ({ children }: { children: (placed: (path: string) => string) => Children }) => (
  <PageContext.Consumer>
    {({ lookingAt }) => children(path => (lookingAt === undefined ? path : path.replace('/console', lookingAt)))}
  </PageContext.Consumer>
)

/** What only owners can do. Operators who look at an account do not see it. */
export const OwnerOnly = ({ children }: { children: Children }) => (
  <PageContext.Consumer>{({ lookingAt }) => lookingAt === undefined && children}</PageContext.Consumer>
)

/** Shows parts of the pages of an account to an operator, who can change nothing in them. */
export const LookingAt = ({ path, children }: { path: string; children: Children }) => (
  <PageContext.Consumer>
    {state => (
      // The token of forms is made when it is read, and here no form reads it.
      <PageContext.Provider value={Object.create(state, { lookingAt: { value: path } })}>
        {children}
      </PageContext.Provider>
    )}
  </PageContext.Consumer>
)

/** A link to where operators have no page of their own: for them, it is text. */
export const OwnerLink = ({ href, children }: { href: string; children: Children }) => (
  <PageContext.Consumer>
    {({ lookingAt }) => (lookingAt === undefined ? <a href={href}>{children}</a> : children)}
  </PageContext.Consumer>
)
