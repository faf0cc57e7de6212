import type { Binding, ParameterRule } from '../../../../schemas/binding.ts'
import { googleImage, googleImageConstants, googleResolution, googleSearch } from '../google-image.ts'
import { onFal, onGoogleImages, onReplicate } from '../providers.ts'
import { implied, same } from '../rules.ts'
import { eachBy, extra, usd, usdPerMillion } from '../usd.ts'
import { falPrompt, replicateNanoBanana } from './nano-banana.ts'

const fal = [
  falPrompt,
  ...same('num_images', 'resolution', 'aspect_ratio', 'output_format', 'enable_web_search'),
  ...same('safety_tolerance', 'seed', 'thinking_level'),
]

/** https://fal.ai/models/fal-ai/nano-banana-2 */
const falPrice = usd(
  ...eachBy('outputs', 'resolution', { '1K': 0.08, '2K': 0.12, '4K': 0.16 }),
  ...extra('enable_web_search', 0.015),
)

const google = [...googleImage, googleResolution, googleSearch]

const thinking = (level: string) => ({ thinkingLevel: level, includeThoughts: true })

const thinkingLevel: ParameterRule = {
  from: 'thinking_level',
  to: 'config.thinkingConfig',
  values: { minimal: thinking('MINIMAL'), high: thinking('HIGH') },
}

const replicate = [
  ...replicateNanoBanana,
  ...same('resolution'),
  { from: 'enable_web_search', to: 'google_search' },
  // Replicate leaves moderation to the vendor.
  implied('safety_tolerance', '4'),
]

const gemini = {
  parameters: [...google, thinkingLevel],
  constants: googleImageConstants,
  price: usdPerMillion({
    promptTokenCount: 0.5,
    'candidatesTokensDetails.IMAGE': 60,
    'candidatesTokensDetails.TEXT': 3,
    thoughtsTokenCount: 3,
  }),
  replacedBy: 'gemini-nano-banana-2.1',
}

/**
 * fal honours every parameter. Google says of its model only that it will go, not when; its successor comes last, so
 * that it takes over on the day when the others refuse.
 */
const bindingsOf = (endpoint: string, falModel: string, image: ParameterRule[]): Binding[] => [
  onFal(endpoint, falModel, { parameters: [...fal, ...image], price: falPrice }),
  onGoogleImages(endpoint, 'gemini-3.1-flash-image', gemini),
  onReplicate(endpoint, 'google/nano-banana-2', { parameters: replicate }),
  onGoogleImages(endpoint, 'gemini-nano-banana-2.1', {
    parameters: [...google, thinkingLevel],
    constants: googleImageConstants,
  }),
]

export const nanoBanana2: Binding[] = [
  ...bindingsOf('nano-banana-2-t2i', 'fal-ai/nano-banana-2', []),
  ...bindingsOf('nano-banana-2-i2i', 'fal-ai/nano-banana-2/edit', [
    { from: 'image_url', to: 'image_urls', as: 'files' },
  ]),
]
