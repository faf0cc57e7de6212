import type { Children } from '#jsx/jsx-runtime'
import { PageContext } from '../page-state.ts'
import { Icon } from '../parts/icon.tsx'
import { DocsFrame, SideLink } from './docs-frame.tsx'
import { DocsSearch } from './docs-search.tsx'
import { firstRequest, type Guide, type Shelf } from './library.ts'
import { type Rendered, renderLine } from './markdown.tsx'
import { DOCS, REFERENCE } from './paths.ts'

/** The guides by their readers. */
export const GuideIndexPage = ({ shelves }: { shelves: readonly Shelf[] }) => (
  <DocsFrame title="Documentation" side={<GuideSide shelves={shelves} />}>
    <div class="docs-index">
      <h1>Documentation</h1>
      <PageContext.Consumer>
        {({ brand }) => (
          <p class="lead muted">How to run models on {brand.name}, from the first request to the audit of your bill.</p>
        )}
      </PageContext.Consumer>
      <DocsSearch />
      <div class="halves">
        <Begin guide={firstRequest} icon="play" />
        <Begin
          guide={{
            path: REFERENCE,
            title: 'API reference',
            text: 'every request with its fields, examples and errors',
          }}
          icon="list"
        />
      </div>
      {shelves.map(({ reader, guides, isFolded }) => (
        <ShelfOf key={reader} reader={reader} isFolded={isFolded}>
          <ul>
            {guides.map(({ path, title, text }) => (
              <li key={path}>
                <a class="link" href={path} data-item>
                  {title}
                </a>
                <span class="small muted" dangerouslySetInnerHTML={renderLine(text)} />
              </li>
            ))}
          </ul>
        </ShelfOf>
      ))}
    </div>
  </DocsFrame>
)

interface ShelfProps {
  reader: string
  isFolded: boolean
  children: Children
}

const ShelfOf = ({ reader, isFolded, children }: ShelfProps) =>
  isFolded ? (
    <details class="shelf">
      <summary>
        <h2>{reader}</h2>
      </summary>
      {children}
    </details>
  ) : (
    <section class="shelf">
      <h2>{reader}</h2>
      {children}
    </section>
  )

const Begin = ({ guide: { path, title, text }, icon }: { guide: Guide; icon: 'play' | 'list' }) => (
  <a class="card begin" href={path}>
    <Icon name={icon} />
    <strong>{title}</strong>
    <span class="muted">{text}</span>
  </a>
)

/** The pages of the guides. */
export const GuideSide = ({ shelves }: { shelves: readonly Shelf[] }) => (
  <>
    <SideLink href={DOCS}>All guides</SideLink>
    <SideLink href={firstRequest.path}>{firstRequest.title}</SideLink>
    {shelves.map(shelf => (
      <SideShelf key={shelf.reader} shelf={shelf} />
    ))}
  </>
)

const SideShelf = ({ shelf: { reader, guides, isFolded } }: { shelf: Shelf }) => {
  const links = guides.map(({ path, title }) => (
    <SideLink key={path} href={path}>
      {title}
    </SideLink>
  ))
  return isFolded ? (
    <PageContext.Consumer>
      {({ url }) => (
        <details open={guides.some(({ path }) => path === url.split('?')[0])}>
          <summary>
            <h2>{reader}</h2>
          </summary>
          {links}
        </details>
      )}
    </PageContext.Consumer>
  ) : (
    <section>
      <h2>{reader}</h2>
      {links}
    </section>
  )
}

interface GuideProps {
  shelves: readonly Shelf[]
  guide: Rendered
  previous: Guide | undefined
  next: Guide | undefined
}

/** A file of docs/ as a page. */
export const GuidePage = ({ shelves, guide: { title, headings, html }, previous, next }: GuideProps) => (
  <DocsFrame title={title} side={<GuideSide shelves={shelves} />}>
    <div class="guide">
      <article class="prose">
        <h1>{title}</h1>
        <div dangerouslySetInnerHTML={html} />
        <Neighbours previous={previous} next={next} />
      </article>
      <Contents headings={headings} />
    </div>
  </DocsFrame>
)

/** Longer tables of contents name only the sections. */
const MAX_HEADINGS = 24

const Contents = ({ headings }: { headings: Rendered['headings'] }) => {
  const sections = headings.filter(({ level }) => level === 2)
  const shown = headings.length > MAX_HEADINGS ? sections : headings.filter(({ level }) => level <= 3)
  if (shown.length < 2) return null
  return (
    <nav class="contents" aria-label="On this page">
      <h2 class="small">On this page</h2>
      {shown.map(({ level, id, text }) => (
        <a key={id} href={`#${id}`} {...(level > 2 && { class: 'deep' })}>
          {text}
        </a>
      ))}
    </nav>
  )
}

/** Links to the pages before and after. */
export const Neighbours = ({ previous, next }: Pick<GuideProps, 'previous' | 'next'>) => (
  <nav class="neighbours" aria-label="Before and after">
    {previous && (
      <a href={previous.path} rel="prev">
        <span class="small faint">Previous</span>
        {previous.title}
      </a>
    )}
    {next && (
      <a class="end" href={next.path} rel="next">
        <span class="small faint">Next</span>
        {next.title}
      </a>
    )}
  </nav>
)
