import { integer } from '../parameter-schemas.ts'

/** The default leaves room for thoughts. */
export const answerLength = integer(
  'Longest answer',
  'The maximum number of output tokens, including thinking. Only the tokens that are used cost credits.',
  { minimum: 16, maximum: 32_768, default: 4096 },
)
