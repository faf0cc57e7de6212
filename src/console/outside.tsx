import type { Children } from '#jsx/jsx-runtime'
import { Brand, Document } from './document.tsx'
import { OperatorsFoot } from './front/operators-foot.tsx'
import { PageContext } from './page-state.ts'

/** The frame of the pages for everyone. */
export const Outside = ({ title, children }: { title: string; children: Children }) => (
  <Document title={title}>
    <PageContext.Consumer>
      {({ isSignedIn, brand }) => (
        <div class="outside">
          <header>
            <Brand />
            <nav aria-label="Site">
              <a href="/#models">Models</a>
              <a href="/docs">Documentation</a>
              <a href="/docs/reference">API reference</a>
            </nav>
            <a class="button end" href={isSignedIn ? '/console' : '/console/sign-in'}>
              {isSignedIn ? 'Console' : 'Sign in'}
            </a>
          </header>
          <main>{children}</main>
          <OperatorsFoot />
          <footer class="small">
            <span class="faint">{brand.name}</span>
            <nav class="end" aria-label="Site, again">
              <a href="/docs/first-request">Your first request</a>
              <a href="/docs/auditing">Auditing</a>
            </nav>
          </footer>
        </div>
      )}
    </PageContext.Consumer>
  </Document>
)
