import type { Message, Tool, ToolCall, ToolChoice } from '../../schemas/conversation.ts'
import { plural } from '../domain/plural.ts'
import { createRandom, hashText, pick, type Random } from './random.ts'
import { sampleOf } from './sample.ts'
import { type Input, numberIn, textIn } from './work.ts'

export interface Answered {
  text: string
  /** Whether the longest answer that the input allows was too short. */
  isCut: boolean
}

/** Answers a prompt, or the last message, in a few sentences that only show that it arrived. */
export function answer(input: Input, seed: number): Answered {
  const maxTokens = numberIn(input, 'max_output_tokens', Number.POSITIVE_INFINITY)
  const json = jsonAnswer(input)
  if (json !== undefined) return cut(json, maxTokens)
  const prompt = textIn(input, 'prompt') || lastMessage(input)
  const random = createRandom(hashText(`answer ${seed} ${prompt}`))
  const hasSeed = typeof input['seed'] === 'number'
  const sentences = [
    pick(random, openings)(quote(prompt, 160)),
    aboutLength(prompt),
    ...aboutSubject(prompt, random),
    pick(random, hasSeed ? closings : seedlessClosings),
  ]
  return cut(sentences.join(' '), maxTokens)
}

const lastMessage = ({ messages }: Input): string => {
  const { content = '' } = (messages as Message[] | undefined)?.at(-1) ?? {}
  if (typeof content === 'string') return content
  return content.map(part => (part.type === 'text' ? part.text : 'an image')).join(' ')
}

/** The call of a tool that the input requires, with sample arguments. Undefined if the model may answer in text. */
export function requiredCall({ tools = [], tool_choice: choice }: Input, runId: string): ToolCall | undefined {
  const named = typeof choice === 'object' ? (choice as Exclude<ToolChoice, string>).function.name : undefined
  const tool = (tools as Tool[]).find(each => named === undefined || each.function.name === named)
  if (!tool || (named === undefined && choice !== 'required')) return undefined
  const { name, parameters } = tool.function
  return { id: `call_${runId}`, type: 'function', function: { name, arguments: JSON.stringify(sampleOf(parameters)) } }
}

/** A JSON answer, if the input asks for one. */
function jsonAnswer({ response_format: format }: Input): string | undefined {
  const { type, json_schema: wanted } = Object(format) as { type?: string; json_schema?: { schema: object } }
  if (type === undefined || type === 'text') return undefined
  return JSON.stringify(wanted ? sampleOf(wanted.schema) : { answer: 'This is the sandbox.' })
}

const openings: readonly [Opening, ...Opening[]] = [
  quoted => `You asked: “${quoted}”. This is the sandbox, which answers in place of the model.`,
  quoted => `The sandbox has read “${quoted}” and is happy to reply, though it is not a model.`,
  quoted => `“${quoted}”: that is what reached the sandbox, and here is its answer.`,
]

type Opening = (quoted: string) => string

function aboutLength(prompt: string): string {
  const words = prompt.match(/[\p{L}\p{N}]+/gu)?.length ?? 0
  return `Your prompt has ${plural(words, 'word')} and ${plural([...prompt].length, 'character')}.`
}

/** Two sentences about the longest words, which tend to name the subject. */
function aboutSubject(prompt: string, random: Random): string[] {
  const words = [...new Set(prompt.toLowerCase().match(/\p{L}{3,30}/gu))].filter(word => !fillers.has(word))
  const [subject, other] = words.toSorted((one, another) => another.length - one.length)
  if (subject === undefined) return ['There is little in it to go on, which a real model would take as a challenge.']
  const first = pick(random, [
    `A real model would now have something to say about ${subject}.`,
    `The word that stands out is “${subject}”.`,
    `Much could be said about ${subject}, and a real model would say it.`,
  ])
  return other === undefined ? [first] : [first, `It would not leave out ${other} either.`]
}

/** Function words, which never name the subject. */
const fillers = new Set([
  ...'the and for are you your with about that this what which would could should please'.split(' '),
  ...'into there where when have from tell write make give why how'.split(' '),
])

const closings: readonly [string, ...string[]] = [
  'The same prompt and seed always get this same answer.',
  'Ask again with the same seed, and you will read the same words.',
  'Nothing here was made up by chance: prompt and seed decide every word.',
]

/** For models that take no seed, so that each run has one of its own. */
const seedlessClosings: readonly [string, ...string[]] = [
  'Ask again, and the words may differ a little.',
  'The next answer to this prompt may say it in another way.',
  'That is all that a sample has to say.',
]

/** A prompt in one line of at most `max` characters. */
export function quote(prompt: string, max: number): string {
  const line = prompt.replace(/\s+/g, ' ').trim()
  const characters = [...line]
  return characters.length <= max ? line : `${characters.slice(0, max).join('').trimEnd()}…`
}

/** A token is about four characters of English. */
const CHARACTERS_PER_TOKEN = 4

function cut(text: string, maxTokens: number): Answered {
  const characters = [...text]
  const max = maxTokens * CHARACTERS_PER_TOKEN
  if (characters.length <= max) return { text, isCut: false }
  const start = characters.slice(0, max - 1).join('')
  return { text: `${start.trimEnd()}…`, isCut: true }
}

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
