import type { Children, Markup } from '#jsx/jsx-runtime'
import { render } from '#render'
import { PageContext, type PageState } from './page-state.ts'

/** htmx neither evaluates code nor adds a style, which the policy for content forbids. */
const HTMX = JSON.stringify({
  allowEval: false,
  includeIndicatorStyles: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
  // No request of a page waits for a result, which takes longer.
  timeout: 60_000,
  // A refused form comes with its faults.
  responseHandling: [
    { code: '204', swap: false },
    { code: '...', swap: true },
  ],
})

interface DocumentProps {
  title: string
  /** The scripts of this page, besides those of all pages. */
  scripts?: readonly string[]
  children: Children
}

/** The document of every page. Pages load nothing from other hosts, and work without scripts. */
export const Document = ({ title, scripts = [], children }: DocumentProps) => (
  <PageContext.Consumer>
    {({ assetUrl, brand }) => (
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
          <meta name="htmx-config" content={HTMX} />
          <title>{`${title} – ${brand.name}`}</title>
          <link rel="icon" href={assetUrl(brand.logo ? 'logo' : 'mark.svg')} />
          <link rel="stylesheet" href={assetUrl('style.css')} />
          <script src={assetUrl('htmx.js')} defer />
          {['console.js', ...scripts].map(name => (
            <script key={name} src={assetUrl(name)} type="module" />
          ))}
        </head>
        <body>{children}</body>
      </html>
    )}
  </PageContext.Consumer>
)

/** The logo and name of the service. Ours is an open barrier. */
export const Brand = ({ href = '/' }: { href?: string }) => (
  <PageContext.Consumer>
    {({ assetUrl, brand: { name, logo } }) => (
      <a class="brand" href={href}>
        {logo ? <img src={assetUrl('logo')} alt="" /> : <Mark />}
        {name}
      </a>
    )}
  </PageContext.Consumer>
)

const Mark = () => (
  <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
    <path d="M4 21V8M20 21v-9M4 11l17-7" />
    <circle cx="4" cy="6" r="1.6" />
  </svg>
)

/** Renders a page or a fragment of one as HTML. Text and attributes are escaped. */
export const htmlOf = (page: Markup, state: PageState): string =>
  render(<PageContext.Provider value={state}>{page}</PageContext.Provider>)
