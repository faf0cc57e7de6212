import type { Children, Markup } from '#jsx/jsx-runtime'
import { render } from '#render'

/** The style sheet of all pages. */
export const STYLE_PATH = '/console/style.css'

interface LayoutProps {
  title: string
  children: Children
}

/** The frame of every page. Nothing in it comes from another host or needs a script. */
export const Layout = ({ title, children }: LayoutProps) => (
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
        <a href="/console">Tollgate</a>
      </header>
      <main>{children}</main>
    </body>
  </html>
)

/** The text of a page. Whatever is not markup of ours is escaped. */
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
