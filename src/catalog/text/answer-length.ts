import { choice } from '../parameter-schemas.ts'

/** An enum rather than a number, so that a price can have a table for it. Thinking tokens count too. */
export const answerLength = choice(
  'Longest answer',
  'The maximum number of output tokens, including thinking. It decides the price.',
  [1024, 4096, 16_384],
  4096,
)

/** Price factors by answer length, relative to the shortest. */
export const answerLengthFactors = { 1024: 1, 4096: 4, 16384: 16 }
