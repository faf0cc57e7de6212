import type { Children } from '#jsx/jsx-runtime'
import { Brand, Document } from './document.tsx'
import { PageContext } from './page-state.ts'

/** The frame of the pages for everyone. */
export const Outside = ({ title, children }: { title: string; children: Children }) => (
  <Document title={title}>
    <div class="outside">
      <header>
        <Brand />
        <a href="/docs">Documentation</a>
        <a href="/docs/reference">API reference</a>
        <PageContext.Consumer>
          {({ isSignedIn }) => (
            <a class="button end" href={isSignedIn ? '/console' : '/console/sign-in'}>
              {isSignedIn ? 'Console' : 'Sign in'}
            </a>
          )}
        </PageContext.Consumer>
      </header>
      <main>{children}</main>
    </div>
  </Document>
)
