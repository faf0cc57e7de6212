import type { Binding, ParameterRule } from '../../../../schemas/binding.ts'
import { googleImage, googleImageConstants, googleResolution, googleSearch } from '../google-image.ts'
import { onFal, onGoogleImages, onReplicate } from '../providers.ts'
import { implied, same } from '../rules.ts'
import { eachBy, extra, usd, usdPerMillion } from '../usd.ts'
import { falPrompt, replicateNanoBanana } from './nano-banana.ts'

const fal = [
  falPrompt,
  ...same('num_images', 'resolution', 'aspect_ratio', 'output_format', 'enable_web_search'),
  ...same('safety_tolerance', 'seed'),
]

/** https://fal.ai/models/fal-ai/nano-banana-pro/api */
const falPrice = usd(
  ...eachBy('outputs', 'resolution', { '1K': 0.15, '2K': 0.15, '4K': 0.3 }),
  ...extra('enable_web_search', 0.015),
)

const replicate: ParameterRule[] = [
  ...replicateNanoBanana,
  ...same('resolution'),
  implied('enable_web_search', false),
  {
    from: 'safety_tolerance',
    to: 'safety_filter_level',
    values: {
      ...{ 1: 'block_low_and_above', 2: 'block_low_and_above' },
      ...{ 3: 'block_medium_and_above', 4: 'block_medium_and_above' },
      ...{ 5: 'block_only_high', 6: 'block_only_high' },
    },
  },
]

const bindingsOf = (endpoint: string, falModel: string, image: ParameterRule[]): Binding[] => [
  onFal(endpoint, falModel, { parameters: [...fal, ...image], price: falPrice }),
  onGoogleImages(endpoint, 'gemini-3-pro-image', {
    parameters: [...googleImage, googleResolution, googleSearch],
    constants: googleImageConstants,
    price: usdPerMillion({
      promptTokenCount: 2,
      'candidatesTokensDetails.IMAGE': 120,
      'candidatesTokensDetails.TEXT': 12,
      thoughtsTokenCount: 12,
    }),
  }),
  // Otherwise, Replicate answers with another model while this one is busy.
  onReplicate(endpoint, 'google/nano-banana-pro', {
    parameters: replicate,
    constants: { allow_fallback_model: false },
  }),
]

export const nanoBananaPro: Binding[] = [
  ...bindingsOf('nano-banana-pro-t2i', 'fal-ai/nano-banana-pro', []),
  ...bindingsOf('nano-banana-pro-i2i', 'fal-ai/nano-banana-pro/edit', [
    { from: 'image_url', to: 'image_urls', as: 'files' },
  ]),
]
