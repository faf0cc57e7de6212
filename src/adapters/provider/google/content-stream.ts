import type { GenerateContentResponse } from '@google/genai'
import { callBytes } from '../tool-calls.ts'
import { type AnswerReader, type Arrival, EventError } from '../upstream-call.ts'
import { listOf } from './usage.ts'

type Values = Record<string, unknown>

/**
 * https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent: each event is a response with
 * further parts. The other fields are those of the last event that has them: the usage grows.
 */
export const contentReader = (): AnswerReader<GenerateContentResponse> => {
  const part = { text: '' }
  const parts: Values[] = [part]
  const candidate: Values = { content: { parts } }
  const answer: Values = { candidates: [candidate] }
  const take = (event: unknown): Arrival => {
    const { error, candidates, ...facts } = valuesOf(event)
    if (error) throw new EventError(statusOf(error), event)
    keep(answer, facts)
    const { content, ...ofCandidate } = valuesOf(listOf(candidates)[0])
    keep(candidate, ofCandidate)
    const arrived = listOf(valuesOf(content)['parts']).map(valuesOf)
    const calls = arrived.filter(({ functionCall }) => functionCall)
    parts.push(...calls)
    const keptBytes = calls.reduce((sum, call) => sum + callBytes(JSON.stringify(call)), 0)
    const text = arrived.map(textOf).join('')
    part.text += text
    const reasons = [ofCandidate['finishReason'], valuesOf(facts['promptFeedback'])['blockReason']]
    return { text, keptBytes, end: reasons.some(isEnd) ? 'whole' : undefined }
  }
  return { answer: answer as unknown as GenerateContentResponse, take }
}

/** https://ai.google.dev/api/generate-content#FinishReason */
const isEnd = (reason: unknown): boolean => typeof reason === 'string' && !/^$|UNSPECIFIED$/.test(reason)

const keep = (into: Values, values: Values) => {
  for (const name of KEPT) if (values[name] !== undefined && values[name] !== null) into[name] = values[name]
}

const KEPT = ['finishReason', 'groundingMetadata', 'promptFeedback', 'usageMetadata', 'modelVersion']

const textOf = ({ text, thought }: Values): string => (typeof text === 'string' && !thought ? text : '')

const statusOf = (error: unknown): number => {
  const { code } = valuesOf(error)
  return typeof code === 'number' && code >= 400 && code < 600 ? code : 500
}

const valuesOf = (value: unknown): Values => (typeof value === 'object' && value !== null ? (value as Values) : {})
