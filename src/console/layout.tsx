import type { Children, Markup } from '#jsx/jsx-runtime'
import { render } from '#render'

/** The style sheet of all pages. */
export const STYLE_PATH = '/console/style.css'

interface LayoutProps {
  title: string
  /** The link at the right of the header. */
  account?: 'Your account' | 'Sign in'
  /** The width of the text. By default, the text is as narrow as a form. */
  width?: 'form' | 'page'
  children: Children
}

/** The frame of every page. Pages load nothing from other hosts and need no script. */
export const Layout = ({ title, account = 'Sign in', width = 'form', children }: LayoutProps) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{`${title} – Tollgate`}</title>
      <link rel="icon" href="data:," />
      <link rel="stylesheet" href={STYLE_PATH} />
    </head>
    <body>
      <header>
        <nav aria-label="Tollgate">
          <a class="brand" href="/">
            <Mark />
            Tollgate
          </a>
          <a href="/guide">Documentation</a>
          <a href="/docs">API reference</a>
          <a class="button quiet" href="/console">
            {account}
          </a>
        </nav>
      </header>
      <main class={width}>{children}</main>
    </body>
  </html>
)

/** The logo: an open barrier. */
const Mark = () => (
  <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
    <path d="M4 21V8M20 21v-9M4 11l17-7" />
    <circle cx="4" cy="6" r="1.6" />
  </svg>
)

/** Renders a page as an HTML document. Text and attributes are escaped. */
export const htmlOf = (page: Markup): string => `<!doctype html>${render(page)}`

/** The fault of a form. Screen readers read it out first. */
export const Fault = ({ text }: { text: string | undefined }) =>
  text === undefined ? null : (
    <p class="fault" id="fault" role="alert">
      {text}
    </p>
  )

/** The attributes of a field whose form has a fault. */
export const faulty = (text: string | undefined) =>
  text === undefined ? {} : { 'aria-invalid': 'true' as const, 'aria-describedby': 'fault' }

/** Lines to copy, such as a command. The block takes the focus, so that people can scroll it with the keyboard. */
export const Code = ({ lines, label }: { lines: readonly string[]; label: string }) => (
  <section class="lines" aria-label={label} tabindex={0}>
    <pre>
      <code>{lines.join('\n')}</code>
    </pre>
  </section>
)
