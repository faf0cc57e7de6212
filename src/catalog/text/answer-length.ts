import { choice } from '../shapes.ts'

/** An enum and no free number, so that a price can have a table for it. Tokens of thought count too. */
export const answerLength = choice(
  'Longest answer',
  'How many tokens the model may write, those that it thinks with included. It decides the price.',
  [1024, 4096, 16_384],
  4096,
)

/** What an answer of each length costs, where the shortest is the base. */
export const answerLengthFactors = { 1024: 1, 4096: 4, 16384: 16 }
