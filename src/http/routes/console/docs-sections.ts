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

interface Known extends Place, Section {}

/** A word of some sections. */
interface Word {
  stem: string
  /** What the word adds to the place of each section among the results, by the number of the section. */
  weights: Map<number, number>
}

/** A word that a word of the query means. */
interface Match extends Pick<Word, 'weights'> {
  word: string
  factor: number
}

/** Other forms of a word are less often what somebody means. */
const FORM_FACTOR = 0.5

/** A word in a text weighs the more the denser it is, but less than in a heading. */
const WEIGHTS = { heading: 10, title: 3, text: 6 }

/** A word weighs half of `text` if it is once among so many words. */
const WORDS_OF_HALF = 100

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
  readonly #words = new Map<string, Word>()

  add(place: Place, section: Section) {
    const number = this.#sections.push({ ...place, ...section }) - 1
    const words = wordsOf(section.text)
    const times = new Map<string, number>()
    for (const word of words) times.set(word, (times.get(word) ?? 0) + 1)
    for (const [word, count] of times)
      this.#weigh(word, number, (WEIGHTS.text * count) / (count + words.length / WORDS_OF_HALF))
    for (const word of new Set(wordsOf(section.heading?.text ?? ''))) this.#weigh(word, number, WEIGHTS.heading)
    for (const word of new Set(wordsOf(place.title))) this.#weigh(word, number, WEIGHTS.title)
  }

  #weigh(word: string, section: number, weight: number) {
    const known = this.#words.get(word) ?? { stem: stemOf(word), weights: new Map() }
    known.weights.set(section, (known.weights.get(section) ?? 0) + weight)
    this.#words.set(word, known)
  }

  /** The best first. People who need no folded guides get none. */
  find(query: string, { limit, hasFolded }: { limit: number; hasFolded: boolean }): DocsResult[] {
    const asked = [...new Set(wordsOf(query))].slice(0, MAX_WORDS)
    const found = asked.map(word => this.#matchesOf(word))
    const matches = new Set(found.flat().map(({ word }) => word))
    const [first, ...others] = found.map(sectionsOf)
    return [...(first ?? [])]
      .flatMap(([number, weight]) => {
        const weights = [weight, ...others.map(sections => sections.get(number))]
        const section = this.#sections[number] as Known
        if (!weights.every(each => each !== undefined) || (section.isFolded && !hasFolded)) return []
        return [{ section, weight: weights.reduce((product, each) => product * each, SHELF_FACTOR ** section.shelf) }]
      })
      .sort((one, other) => other.weight - one.weight)
      .slice(0, limit)
      .map(({ section }) => resultOf(section, matches))
  }

  #matchesOf(asked: string): Match[] {
    const stem = stemOf(asked)
    return [...this.#words].flatMap(([word, known]) => {
      const isStart = word === asked || (asked.length >= MIN_START && word.startsWith(asked))
      if (!isStart && known.stem !== stem) return []
      return [{ word, weights: known.weights, factor: isStart ? 1 : FORM_FACTOR }]
    })
  }
}

/** The weights of the sections that have one of the words. */
const sectionsOf = (words: readonly Match[]): Map<number, number> => {
  const found = new Map<number, number>()
  for (const { weights, factor } of words)
    for (const [number, weight] of weights) found.set(number, Math.max(weight * factor, found.get(number) ?? 0))
  return found
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(WORD) ?? []

/** `verifies` and `verified` are forms of `verify`, and `streaming` and `streams` of `stream`. */
const stemOf = (word: string): string =>
  word.replace(/(?<=\p{L}{3})(?:ies|ied)$/u, 'y').replace(/(?<=\p{L}{3})(?:ing|ed|s)$/u, '')

const resultOf = ({ path, title, heading, text }: Known, matches: ReadonlySet<string>): DocsResult => ({
  href: heading ? `${path}#${heading.id}` : path,
  icon: heading ? 'text' : 'book-open',
  name: heading ? `${title} › ${heading.text}` : title,
  note: 'Guide',
  snippet: snippetOf(text, matches),
})

/** The words around the first that was found. */
const snippetOf = (text: string, matches: ReadonlySet<string>): string => {
  const at = placeOf(text, matches)
  const from = at <= SNIPPET_BEFORE ? 0 : Math.min(at, text.indexOf(' ', at - SNIPPET_BEFORE) + 1)
  const rest = text.slice(from, from + SNIPPET_LENGTH)
  const isCut = from + rest.length < text.length
  return `${from > 0 ? '… ' : ''}${isCut ? `${rest.slice(0, rest.lastIndexOf(' '))} …` : rest}`
}

const placeOf = (text: string, matches: ReadonlySet<string>): number => {
  for (const { 0: word, index } of text.matchAll(WORD)) if (matches.has(word.toLowerCase())) return index
  return 0
}
