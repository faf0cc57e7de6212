import type { Children } from '#jsx/jsx-runtime'
import { Code } from '../parts/code.tsx'

interface JsonProps {
  /** Unique on the page. */
  id: string
  label: string
  value: unknown
  /** Remarks on the members of the value, which are not copied. */
  marks?: Readonly<Record<string, string>>
}

/** A value as JSON, with a button to copy it. */
export const JsonView = ({ id, label, value, marks = {} }: JsonProps) => (
  <Code id={id} label={label}>
    {partsOf(value, '', marks)}
  </Code>
)

const partsOf = (value: unknown, pad: string, marks: Readonly<Record<string, string>> = {}): Children => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const isList = Array.isArray(value)
  const entries = Object.entries(value).filter(([, each]) => each !== undefined)
  if (entries.length === 0) return isList ? '[]' : '{}'
  const inner = `${pad}  `
  return [
    isList ? '[\n' : '{\n',
    ...entries.map(
      ([name, each], index): Children => [
        inner,
        !isList && [<span class="s">{JSON.stringify(name)}</span>, ': '],
        partsOf(each, inner),
        index < entries.length - 1 && ',',
        marks[name] !== undefined && <span class="c mark-note" data-note={marks[name]} />,
        '\n',
      ],
    ),
    `${pad}${isList ? ']' : '}'}`,
  ]
}
