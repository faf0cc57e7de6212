import type { Answer } from '../../src/services/answer.ts'

/** The value of an answer that must not be a refusal. */
export const unwrap = <Value>(answer: Answer<Value>): Value => {
  if ('refuse' in answer) throw new Error(`refused: ${JSON.stringify(answer.refuse)}`)
  return answer.value
}
