import type { Children } from '#jsx/jsx-runtime'
import { Brand, Document } from '../document.tsx'
import { Finder } from '../finder/finder.tsx'
import { OperatorsFoot } from '../front/operators-foot.tsx'
import { PageContext } from '../page-state.ts'
import { Icon } from '../parts/icon.tsx'
import { DOCS, DOCS_SEARCH, REFERENCE } from './paths.ts'

interface DocsProps {
  title: string
  /** The pages of the same part. */
  side: Children
  children: Children
}

/** The frame of the documentation, for everyone. */
export const DocsFrame = ({ title, side, children }: DocsProps) => (
  <Document title={title} scripts={['docs.js']}>
    <PageContext.Consumer>
      {({ url, account, isSignedIn }) => (
        <>
          <a class="skip button" href="#content">
            Skip to the content
          </a>
          {account?.isTest && <div class="test-band">Test mode: the sandbox does the runs, which cost nothing</div>}
          <header class="docs-head">
            <Brand />
            <nav aria-label="Documentation">
              <Part href={DOCS} name="Guides" isCurrent={!url.startsWith(REFERENCE)} />
              <Part href={REFERENCE} name="API reference" isCurrent={url.startsWith(REFERENCE)} />
            </nav>
            <button type="button" class="quiet docs-pages" popovertarget="pages">
              <Icon name="list" />
              Pages
            </button>
            <form method="get" action={DOCS_SEARCH} class="search-box end hide-small">
              <Icon name="search" />
              <input type="search" name="q" required aria-label="Search the documentation" placeholder="Search" />
            </form>
            <a class="button quiet search-link" href={DOCS_SEARCH}>
              <Icon name="search" />
              <span class="visually-hidden">Search</span>
            </a>
            <a class="button" href={isSignedIn ? '/console' : '/console/sign-in'}>
              {isSignedIn ? 'Console' : 'Sign in'}
            </a>
          </header>
          <div class="docs">
            <nav class="docs-side" id="pages" popover="auto" aria-label="Pages">
              {side}
            </nav>
            <main id="content" tabindex={-1}>
              {children}
              <OperatorsFoot />
            </main>
          </div>
          {account && <Finder />}
          <div id="status" class="visually-hidden" role="status" />
        </>
      )}
    </PageContext.Consumer>
  </Document>
)

const Part = ({ href, name, isCurrent }: { href: string; name: string; isCurrent: boolean }) => (
  <a href={href} {...(isCurrent && { 'aria-current': 'true' as const })}>
    {name}
  </a>
)

/** A link in the list of pages. */
export const SideLink = ({ href, children }: { href: string; children: Children }) => (
  <PageContext.Consumer>
    {({ url }) => (
      <a href={href} {...(url.split('?')[0] === href && { 'aria-current': 'page' as const })}>
        {children}
      </a>
    )}
  </PageContext.Consumer>
)
