import type { RunStory } from '../../audit/explain/run-story.ts'
import { count } from '../../audit/words.ts'
import { toColumns } from '../columns.ts'
import { printable, SECTION_WIDTH, shortened, wrapped } from './text.ts'

/** As wide as the digest below it. */
const KEY_WIDTH = 71

export const resultToText = ({ output, outputDeletedAt, error }: RunStory): string => {
  if (error) return wrapped(printable(`Failed as ${error.code}: ${error.message}`), SECTION_WIDTH)
  if (!output) return 'The run has not ended.'
  const { artifacts, text, willDeleteAt } = output
  const files = artifacts.map(({ objectKey, mimeType, sizeBytes, sha256 }) => [
    `${wrapped(printable(objectKey), KEY_WIDTH)}\nsha256 ${sha256}`,
    `${printable(mimeType)}\n${count(sizeBytes, 'byte')}`,
  ])
  const deletion = outputDeletedAt
    ? `The files were deleted at ${outputDeletedAt}.`
    : willDeleteAt && files.length > 0 && `The files are kept until ${willDeleteAt}.`
  const parts = [
    files.length > 0 && toColumns(files),
    text !== undefined && wrapped(printable(`text: ${shortened(text)}`), SECTION_WIDTH),
    deletion,
  ]
  return parts.filter(Boolean).join('\n') || 'The run completed without output.'
}
