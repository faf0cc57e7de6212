import { quote } from './answer.ts'
import { createRandom, hashText, pick } from './random.ts'
import { type Input, textIn } from './work.ts'

/** The thoughts before a picture, if the input asks for some. They only show that the level arrived. */
export function thoughts(input: Input, seed: number): string | undefined {
  const level = textIn(input, 'thinking_level')
  if (level === '') return undefined
  const prompt = textIn(input, 'prompt')
  const random = createRandom(hashText(`thoughts ${seed} ${prompt}`))
  const first = `The prompt asks for “${quote(prompt, 160)}”. The sandbox paints a landscape in its mood.`
  return level === 'high' ? [first, pick(random, plans), pick(random, doubts), CONCLUSION].join('\n\n') : first
}

const plans: readonly [string, ...string[]] = [
  'The horizon comes first, then the light, and what is near comes last.',
  'The light decides the colours, so the sky comes first and the land follows.',
  'The land needs three depths: far hills, a middle distance, and something close.',
]

const doubts: readonly [string, ...string[]] = [
  'A stronger contrast would be easy, but the mood asks for a quiet picture.',
  'A figure could give it scale, but the prompt should decide that.',
  'The sky could be larger. It stays as it is, because the land carries the mood.',
]

const CONCLUSION = 'Prompt and seed decide everything else, so the same request gives the same picture.'
