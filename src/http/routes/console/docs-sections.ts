import MiniSearch from 'minisearch'
import type { Section } from '../../../console/docs/markdown.tsx'
import type { DocsResult } from '../../../console/docs/search-page.tsx'

/** Where a section is. */
interface Place {
  path: string
  title: string
  /** Whether only operators and contributors need its guide. */
  isFolded: boolean
  /** The number of its shelf. Most readers look for the guides on the first. */
  shelf: number
}

interface Known extends Place, Section {
  id: number
}

/** What a section on the next shelf weighs. */
const SHELF_FACTOR = 0.8

/** Further words of a query are ignored, which bounds the cost of a search. */
const MAX_WORDS = 8

/** Shorter words must be whole, since too many words begin with them. */
const MIN_START = 3

/** The letters of a snippet, and those of them before the word that was found. */
const [SNIPPET_LENGTH, SNIPPET_BEFORE] = [160, 50]

const WORD = /[\p{L}\p{M}\p{N}]+/gu

/** Finds the sections that have all words of a query, whichever of their forms. */
export class SectionIndex {
  readonly #sections: Known[] = []
  readonly #index = new MiniSearch<Known>({
    fields: ['heading', 'title', 'text'],
    extractField: (section, field) =>
      field === 'heading' ? (section.heading?.text ?? '') : String(section[field as keyof Known]),
    tokenize: wordsOf,
    processTerm: stemOf,
  })

  add(place: Place, section: Section) {
    const known = { ...place, ...section, id: this.#sections.length }
    this.#sections.push(known)
    this.#index.add(known)
  }

  /** The best first. People who need no folded guides get none. */
  find(query: string, { limit, hasFolded }: { limit: number; hasFolded: boolean }): DocsResult[] {
    const at = (id: number) => this.#sections[id] as Known
    return this.#index
      .search(wordsOf(query).slice(0, MAX_WORDS).join(' '), {
        combineWith: 'AND',
        prefix: word => word.length >= MIN_START,
        boost: { heading: 3, title: 2 },
        boostDocument: id => SHELF_FACTOR ** at(id).shelf,
        filter: ({ id }) => hasFolded || !at(id).isFolded,
      })
      .slice(0, limit)
      .map(({ id, terms }) => resultOf(at(id), new Set(terms)))
  }
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(WORD) ?? []

/** `verifies` and `verified` are forms of `verify`, and `streaming` and `streams` of `stream`. */
const stemOf = (word: string): string =>
  word.replace(/(?<=\p{L}{3})(?:ies|ied)$/u, 'y').replace(/(?<=\p{L}{3})(?:ing|ed|s)$/u, '')

const resultOf = ({ path, title, heading, text }: Known, stems: ReadonlySet<string>): DocsResult => ({
  href: heading ? `${path}#${heading.id}` : path,
  icon: heading ? 'text' : 'book-open',
  name: heading ? `${title} › ${heading.text}` : title,
  note: 'Guide',
  snippet: snippetOf(text, stems),
})

/** The words around the first that was found. */
const snippetOf = (text: string, stems: ReadonlySet<string>): string => {
  const at = placeOf(text, stems)
  const from = at <= SNIPPET_BEFORE ? 0 : Math.min(at, text.indexOf(' ', at - SNIPPET_BEFORE) + 1)
  const rest = text.slice(from, from + SNIPPET_LENGTH)
  const isCut = from + rest.length < text.length
  return `${from > 0 ? '… ' : ''}${isCut ? `${rest.slice(0, rest.lastIndexOf(' '))} …` : rest}`
}

const placeOf = (text: string, stems: ReadonlySet<string>): number => {
  for (const { 0: word, index } of text.matchAll(WORD)) if (stems.has(stemOf(word.toLowerCase()))) return index
  return 0
}
