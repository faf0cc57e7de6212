import type { RawHtml } from '#jsx/jsx-runtime'
import { renderPage } from '../docs/markdown.tsx'

/** The operator's words on the first page. */
export interface Words {
  title: string
  /** What follows the title. HTML in the Markdown is shown as text. */
  introduction: RawHtml
  /** The foot of the page. */
  foot: RawHtml | undefined
}

/** `text` is Markdown: a title, an introduction, and after a line `---` the foot. */
export const wordsOf = (text: string): Words => {
  const [head = '', ...foot] = text.split(/^---+\s*$/m)
  const { title, html } = renderPage(head, linked)
  return { title, introduction: html, foot: foot.length > 0 ? renderPage(foot.join('\n'), linked).html : undefined }
}

/** The operator's links stay as they are. */
const linked = (href: string) => href
