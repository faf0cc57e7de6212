import MarkdownIt, { type Token } from 'markdown-it'
import type { RawHtml } from '#jsx/jsx-runtime'
import { render } from '#render'
import { Snippet } from './snippet.tsx'

/** A page in Markdown as HTML. */
export interface Rendered {
  title: string
  headings: readonly { level: number; id: string; text: string }[]
  /** The page without its title. HTML in the Markdown is shown as text. */
  html: RawHtml
}

/** Renders a file of docs/. `addressOf` leads links to pages, or returns undefined for links that show as text. */
export const renderPage = (text: string, addressOf: (href: string) => string | undefined): Rendered => {
  const { title, body } = parsed(text)
  for (const token of body) {
    if (token.type === 'inline') token.children = linked(token.children ?? [], addressOf)
    unstyle(token)
  }
  number(body)
  const headings = anchored(body)
  return {
    title,
    headings,
    html: { __html: markdown.renderer.render(body, markdown.options, {}) },
  }
}

/** A heading with the text up to the next one. What comes before the first heading has none. */
export interface Section {
  heading?: { id: string; text: string }
  text: string
}

/** The sections of a file of docs/, to search them. */
export const sectionsOf = (text: string): Section[] => {
  const { body } = parsed(text)
  const headings = anchored(body).values()
  let section: Section = { text: '' }
  const sections = [section]
  for (const [at, token] of body.entries()) {
    if (token.type === 'heading_open') {
      const { value: heading } = headings.next()
      section = { ...(heading && { heading }), text: '' }
      sections.push(section)
    } else if (body[at - 1]?.type !== 'heading_open')
      section.text += ` ${token.type === 'inline' ? textOf(token) : token.content}`
  }
  return sections.map(each => ({ ...each, text: each.text.replaceAll(/\s+/g, ' ').trim() }))
}

const parsed = (text: string) => {
  const tokens = markdown.parse(text, {})
  const [open, inline] = tokens
  const hasTitle = open?.type === 'heading_open' && open.tag === 'h1'
  return { title: hasTitle ? textOf(inline) : '', body: hasTitle ? tokens.slice(3) : tokens }
}

/** Text of the OpenAPI document, such as a description. Its links stay. */
export const renderText = (text: string): RawHtml => ({ __html: markdown.render(text) })
export const renderLine = (text: string): RawHtml => ({ __html: markdown.renderInline(text) })

const markdown = new MarkdownIt({ html: false })

/** Cells of tables can be broken in no other way. */
const LINE_BREAK = '<br>'

markdown.inline.ruler.before('autolink', 'line_break', (state, isSilent) => {
  if (!state.src.startsWith(LINE_BREAK, state.pos)) return false
  if (!isSilent) state.push('hardbreak', 'br', 0)
  state.pos += LINE_BREAK.length
  return true
})

markdown.renderer.rules['fence'] = (tokens, at) => {
  const text = tokens[at]?.content.trimEnd() ?? ''
  return render(<Snippet id={`code-${at}`} label={`Example ${tokens[at]?.meta?.['number']}`} text={text} />)
}
markdown.renderer.rules['code_block'] = markdown.renderer.rules['fence']
// A heading is a link to itself, unless it holds another link.
markdown.renderer.rules['heading_open'] = (tokens, at, options, _, renderer) =>
  renderer.renderToken(tokens, at, options) +
  (hasLink(tokens[at + 1]) ? '' : `<a href="#${tokens[at]?.attrGet('id')}">`)
markdown.renderer.rules['heading_close'] = (tokens, at, options, _, renderer) =>
  (hasLink(tokens[at - 1]) ? '' : '</a>') + renderer.renderToken(tokens, at, options)

const hasLink = (inline: Token | undefined) => inline?.children?.some(({ type }) => type === 'link_open') === true

markdown.renderer.rules['table_open'] = (tokens, at) =>
  `<section class="card scroll" aria-label="Table ${tokens[at]?.meta?.['number']}" tabindex="0"><table>`
markdown.renderer.rules['table_close'] = () => '</table></section>'

/** Numbers the parts that scroll, since each needs a name of its own. */
const number = (tokens: readonly Token[]) => {
  for (const type of ['fence', 'code_block', 'table_open'])
    for (const [at, token] of tokens.filter(each => each.type === type).entries()) token.meta = { number: at + 1 }
}

/** The policy for content forbids the style of aligned cells. */
const unstyle = (token: Token) => {
  const style = String(token.attrGet('style') ?? '')
  if (style === '') return
  token.attrs = (token.attrs ?? []).filter(([name]) => name !== 'style')
  if (style.includes('right')) token.attrJoin('class', 'num')
}

/** Leads links between files to their pages. */
const linked = (children: readonly Token[], addressOf: (href: string) => string | undefined): Token[] => {
  let isDropped = false
  return children.filter(token => {
    if (token.type === 'link_open') {
      const href = String(token.attrGet('href') ?? '')
      const address = /^[a-z]+:/.test(href) ? href : addressOf(href)
      isDropped = address === undefined
      if (address !== undefined) token.attrSet('href', address)
      if (address !== undefined && /^https?:/.test(address)) token.attrSet('rel', 'noreferrer')
      return !isDropped
    }
    return token.type !== 'link_close' || !isDropped
  })
}

/** Gives the headings the anchors that GitHub gives them. */
const anchored = (tokens: readonly Token[]) => {
  const taken = new Map<string, number>()
  return tokens.flatMap((token, at) => {
    if (token.type !== 'heading_open') return []
    const text = textOf(tokens[at + 1])
    const name = anchorOf(text)
    const count = taken.get(name) ?? 0
    taken.set(name, count + 1)
    const id = count === 0 ? name : `${name}-${count}`
    token.attrSet('id', id)
    return [{ level: Number(token.tag.slice(1)), id, text }]
  })
}

const anchorOf = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')

const textOf = (inline: Token | undefined): string =>
  (inline?.children ?? []).map(({ type, content }) => (type.endsWith('break') ? ' ' : content)).join('')
