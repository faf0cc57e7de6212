import type { Children } from '#jsx/jsx-runtime'
import { Code, CopyButton } from '../parts/code.tsx'

/** What stands for something that the reader has to put in. */
const GAP = '…'

/** Code with a button that copies it, unless it does not work before the reader has changed it. `id` is unique. */
export const Snippet = ({ id, label, text }: { id: string; label: string; text: string }) => (
  <div class="snippet">
    <Code id={id} label={label}>
      {tinted(text)}
    </Code>
    {!text.includes(GAP) && <CopyButton of={id} />}
  </div>
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
