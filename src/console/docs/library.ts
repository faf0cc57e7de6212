import { DOCS, FIRST_REQUEST } from './paths.ts'

/** A page of the documentation in the lists of pages. */
export interface Guide {
  path: string
  title: string
  /** What it is about. */
  text: string
}

/** The guides for one kind of reader. */
export interface Shelf {
  reader: string
  guides: readonly Guide[]
  /** Customers need none of it, so it comes last, and opens by a click. */
  isFolded: boolean
}

/** The readers who are no customers, as docs/README.md names them. */
const NO_CUSTOMERS = ['You operate the service', 'You contribute']

export const firstRequest: Guide = {
  path: FIRST_REQUEST,
  title: 'Your first request',
  text: 'a key, a run, its price, and the models on offer',
}

/** The address of a page: `docs/keys.md` is `/docs/keys`, and a README stands for its folder. */
export const addressOfFile = (file: string): string =>
  `${DOCS}/${file.replace(/\.md$/, '').replace(/\/?README$/, '')}`.replace(/\/$/, '')

/** The shelves of docs/README.md: each heading is a kind of reader, and each item a page with what it is about. */
export const shelvesOf = (readme: string, addressOf: (href: string) => string | undefined): Shelf[] => {
  const shelved = new Set<string>()
  return readme
    .split(/^## /m)
    .slice(1)
    .map(section => {
      const [reader = '', ...lines] = section.split('\n')
      const guides = lines.flatMap(line => {
        const [, title = '', href = '', text = ''] = /^- \[([^\]]+)\]\(([^)]+)\):? ?(.*)$/.exec(line) ?? []
        const path = addressOf(href)?.replace(/#.*/, '')
        if (path === undefined || path === '' || shelved.has(path)) return []
        shelved.add(path)
        return [{ path, title, text }]
      })
      return { reader, guides, isFolded: NO_CUSTOMERS.includes(reader) }
    })
    .filter(({ guides }) => guides.length > 0)
    .sort((one, other) => Number(one.isFolded) - Number(other.isFolded))
}
