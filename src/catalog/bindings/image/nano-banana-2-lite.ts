import type { Binding, ParameterRule } from '../../../../schemas/binding.ts'
import { googleImage, googleImageConstants } from '../google-image.ts'
import { onFal, onGoogleImages, onReplicate } from '../providers.ts'
import { implied, same } from '../rules.ts'
import { usdPerMillion } from '../usd.ts'
import { falPrompt, replicateNanoBanana } from './nano-banana.ts'

const fal = [falPrompt, ...same('num_images', 'aspect_ratio', 'output_format', 'safety_tolerance', 'seed')]

const bindingsOf = (endpoint: string, falModel: string, image: ParameterRule[]): Binding[] => [
  onFal(endpoint, falModel, { parameters: [...fal, ...image] }),
  onGoogleImages(endpoint, 'gemini-3.1-flash-lite-image', {
    parameters: googleImage,
    constants: googleImageConstants,
    price: usdPerMillion({
      promptTokenCount: 0.25,
      'candidatesTokensDetails.IMAGE': 30,
      'candidatesTokensDetails.TEXT': 1.5,
      thoughtsTokenCount: 1.5,
    }),
  }),
  // Replicate leaves moderation to the vendor.
  onReplicate(endpoint, 'google/nano-banana-2-lite', {
    parameters: [...replicateNanoBanana, implied('safety_tolerance', '4')],
  }),
]

export const nanoBanana2Lite: Binding[] = [
  ...bindingsOf('nano-banana-2-lite-t2i', 'google/nano-banana-2-lite', []),
  // fal names the model for edits without its number.
  ...bindingsOf('nano-banana-2-lite-i2i', 'google/nano-banana-lite/edit', [
    { from: 'image_url', to: 'image_urls', as: 'files' },
  ]),
]
