import type { Binding, ParameterRule } from '../../../schemas/binding.ts'
import { googleImage, googleImageConstants, googleResolution, googleSearch } from '../bindings/google-image.ts'
import { onFal, onGoogleImages, onReplicate } from '../bindings/providers.ts'
import { implied, same } from '../bindings/rules.ts'
import { eachBy, extra, usd, usdPerMillion } from '../bindings/usd.ts'
import { imageFamily, type Model } from '../families.ts'
import { flag } from '../parameter-schemas.ts'
import {
  aspectRatio,
  imageFormat,
  imageUrl,
  numImages,
  prompt,
  resolution,
  safetyTolerance,
  seed,
} from '../parameters.ts'
import { priceRule, surcharge } from '../price-rule.ts'
import { falPrompt, replicateNanoBanana } from './nano-banana.ts'

const ratios = ['auto', '21:9', '16:9', '3:2', '4:3', '5:4', '1:1', '4:5', '3:4', '2:3', '9:16']

const parameters = {
  num_images: numImages(4),
  resolution: resolution('The size of the image: about 1, 4 or 16 megapixels.', ['1K', '2K', '4K'], '1K'),
  output_format: imageFormat(['png', 'jpeg', 'webp'], 'png'),
  enable_web_search: flag(
    'Web search',
    'Lets the model look up current information on the web, for a surcharge.',
    false,
  ),
  safety_tolerance: safetyTolerance(6, '4'),
  seed: seed('image'),
}

const pricing = priceRule(15, {
  quantities: ['num_images'],
  multipliers: { resolution: { '1K': 1, '2K': 1, '4K': 2 } },
  surcharges: [surcharge('enable_web_search', true, 0.015)],
})

/** Google's Gemini 3 Pro Image. Parameters and prices follow https://fal.ai/models/fal-ai/nano-banana-pro/api. */
const family = imageFamily({
  id: 'nano-banana-pro',
  name: 'Nano Banana Pro',
  replaces: ['imagen-4-ultra'],
  endpoints: {
    t2i: {
      description: 'Generates images from text, with legible lettering, up to 4K.',
      parameters: {
        prompt: prompt('The content of the image.', 20_000),
        aspect_ratio: aspectRatio(ratios, '1:1'),
        ...parameters,
      },
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'A cutaway drawing of a windmill with its parts named' },
        {
          prompt: 'A poster for a jazz night on Friday at nine',
          aspect_ratio: '2:3',
          num_images: 2,
          resolution: '4K',
          output_format: 'jpeg',
          enable_web_search: true,
          safety_tolerance: '3',
          seed: 11,
        },
      ],
    },
    i2i: {
      description: 'Edits an image from a text instruction, up to 4K.',
      parameters: {
        prompt: prompt('The change to make to the image.', 20_000),
        image_url: imageUrl('The image to edit'),
        aspect_ratio: aspectRatio(ratios, 'auto', 'the image'),
        ...parameters,
      },
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'Translate the sign into French', image_url: 'https://example.com/shop-front.jpg' },
        {
          prompt: 'Show the same room in the evening, with the lamps on',
          image_url: 'https://example.com/room.jpg',
          aspect_ratio: '3:2',
          resolution: '2K',
          output_format: 'webp',
          seed: 5,
        },
      ],
    },
  },
})

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
  // Otherwise, Replicate uses another model while this one is busy.
  onReplicate(endpoint, 'google/nano-banana-pro', {
    parameters: replicate,
    constants: { allow_fallback_model: false },
  }),
]

const bindings: Binding[] = [
  ...bindingsOf('nano-banana-pro-t2i', 'fal-ai/nano-banana-pro', []),
  ...bindingsOf('nano-banana-pro-i2i', 'fal-ai/nano-banana-pro/edit', [
    { from: 'image_url', to: 'image_urls', as: 'files' },
  ]),
]

export const nanoBananaPro: Model = { family, bindings }
