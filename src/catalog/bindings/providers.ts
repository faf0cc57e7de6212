import type { Binding } from '../../../schemas/binding.ts'

/** The day on which all of them were looked up. */
const LOOKED_UP = '2026-11-24'

/** Costs are never guessed: without a price published by the provider itself, a cost is unknown. */
const NOT_FOUND = 'the price of the provider for this model is unknown'

/** The binding in a family's file. */
type Sheet = Pick<Binding, 'parameters'> &
  Partial<Pick<Binding, 'constants' | 'refuses' | 'output' | 'price' | 'unpriced' | 'retiresAt' | 'replacedBy'>> & {
    /** Where the binding was looked up, if not at the usual place. */
    at?: string
    unconfirmed?: true
  }

const bindings =
  (provider: Binding['provider'], operation: string, sourceOf: (model: string) => string) =>
  (endpoint: string, model: string, { at = sourceOf(model), unconfirmed, unpriced, ...sheet }: Sheet): Binding => ({
    endpoint,
    provider,
    model,
    operation,
    ...sheet,
    ...(sheet.price === undefined && { unpriced: unpriced ?? NOT_FOUND }),
    source: { at, on: LOOKED_UP, ...(unconfirmed && { unconfirmed }) },
  })

/** The types that fal generates from its schemas, of 2026-08-02. */
const FAL_TYPES = 'https://github.com/fal-ai/fal-js/blob/381105e/libs/client/src/types/endpoints.ts'

const GOOGLE_MODELS = 'https://ai.google.dev/gemini-api/docs/deprecations'

export const onFal = bindings('fal', 'queue', () => FAL_TYPES)
export const onReplicate = bindings('replicate', 'predictions', model => `https://replicate.com/${model}/api/schema`)
export const onGoogleImages = bindings('google', 'generateContent.image', () => GOOGLE_MODELS)
export const onGoogleText = bindings('google', 'generateContent.text', () => GOOGLE_MODELS)
export const onGoogleJobs = bindings('google', 'interactions', () => GOOGLE_MODELS)
export const onAnthropic = bindings(
  'anthropic',
  'messages',
  () => 'https://platform.claude.com/docs/en/about-claude/models',
)
export const onElevenLabs = bindings(
  'elevenlabs',
  'text-to-speech',
  () => 'https://elevenlabs.io/docs/api-reference/text-to-speech/convert',
)

const OPENAI_MODELS = 'https://developers.openai.com/api/docs/deprecations'

export const onOpenAiGenerate = bindings('openai', 'images.generate', () => OPENAI_MODELS)
export const onOpenAiEdit = bindings('openai', 'images.edit', () => OPENAI_MODELS)
export const onOpenAiChat = bindings('openai', 'chat.completions', () => OPENAI_MODELS)
