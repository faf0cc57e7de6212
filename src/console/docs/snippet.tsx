import type { Children } from '#jsx/jsx-runtime'
import { Code } from '../parts/code.tsx'

/** A placeholder, which the reader replaces. */
const GAP = '…'

/** Code of any language, to copy unless the reader has to change it first. `id` is unique on the page. */
export const Snippet = ({ id, label, text }: { id: string; label: string; text: string }) => (
  <Code id={id} label={label} copies={!text.includes(GAP)}>
    {tinted(text)}
  </Code>
)

const STRINGS = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/
const COMMENTS = /(?<=^|\s)(?:#|\/\/)\s.*$/
const TINTED = new RegExp(`(${STRINGS.source})|(${COMMENTS.source})`, 'gm')

/** Tints the strings and comments of code in any language. */
const tinted = (text: string): Children => {
  const parts: Children[] = []
  let end = 0
  for (const match of text.matchAll(TINTED)) {
    parts.push(text.slice(end, match.index), <span class={match[1] === undefined ? 'c' : 's'}>{match[0]}</span>)
    end = match.index + match[0].length
  }
  return [...parts, text.slice(end)]
}
