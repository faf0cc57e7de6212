import type { Refusal } from '../../domain/refusal.ts'
import type { Answer } from '../../services/answer.ts'
import { type RefusalWords, wordsOf } from '../../services/refusal-words.ts'
import { ApiError, type ErrorDetails } from '../../transports/api-error.ts'
import { codes } from './refusal-codes.ts'
import { details } from './refusal-details.ts'
import { words } from './refusal-words.ts'

/** The value of an answer. Throws ApiError for a refusal. */
export const unwrap = <Value>(answer: Answer<Value>): Value => {
  if ('refuse' in answer) throw errorOf(words, answer.refuse)
  return answer.value
}

/** The error of the API for a refusal, in the words of a transport. */
export const errorOf = (words: RefusalWords, refusal: Refusal): ApiError => {
  // The compiler does not see that the code selects the entry for these facts.
  const detailsOf = details[refusal.code] as ((facts: Refusal, words: RefusalWords) => ErrorDetails) | undefined
  const retryAfterSeconds = 'retryAfterMs' in refusal ? Math.ceil(refusal.retryAfterMs / 1000) : undefined
  return new ApiError(codes[refusal.code], wordsOf(words, refusal), detailsOf?.(refusal, words), { retryAfterSeconds })
}
