import type { Binding, ParameterRule } from '../../../schemas/binding.ts'
import { googleImage, googleImageConstants } from '../bindings/google-image.ts'
import { onFal, onGoogleImages, onReplicate } from '../bindings/providers.ts'
import { implied, same } from '../bindings/rules.ts'
import { usdPerMillion } from '../bindings/usd.ts'
import { imageFamily, type Model } from '../families.ts'
import { aspectRatio, imageFormat, imageUrl, numImages, prompt, safetyTolerance, seed } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'
import { falPrompt, replicateNanoBanana } from './nano-banana.ts'

const ratios = [
  ...['auto', '1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '4:5', '5:4', '21:9'],
  ...['4:1', '1:4', '8:1', '1:8'],
]

const parameters = {
  num_images: numImages(4),
  output_format: imageFormat(['png', 'jpeg', 'webp'], 'png'),
  safety_tolerance: safetyTolerance(6, '4'),
  seed: seed('image'),
}

const pricing = priceRule(4, { quantities: ['num_images'] })

/**
 * Google's Gemini 3.1 Flash Lite Image. Parameters follow https://fal.ai/models/google/nano-banana-2-lite/api. Google
 * charges about 3.4 US cents an image (https://ai.google.dev/gemini-api/docs/pricing); the rest covers input tokens.
 */
const family = imageFamily({
  id: 'nano-banana-2-lite',
  name: 'Nano Banana 2 Lite',
  replaces: ['imagen-4-fast'],
  endpoints: {
    t2i: {
      description: 'Generates images from text, quickly and at a low price.',
      parameters: {
        prompt: prompt('The content of the image.', 20_000),
        aspect_ratio: aspectRatio(ratios, 'auto'),
        ...parameters,
      },
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'Dumplings on a small round table, late at night' },
        {
          prompt: 'A paper boat on a puddle',
          aspect_ratio: '9:16',
          num_images: 4,
          output_format: 'webp',
          safety_tolerance: '3',
          seed: 10,
        },
      ],
    },
    i2i: {
      description: 'Edits an image from a text instruction, quickly and at a low price.',
      parameters: {
        prompt: prompt('The change to make to the image.', 20_000),
        image_url: imageUrl('The image to edit'),
        aspect_ratio: aspectRatio(ratios, 'auto', 'the image'),
        ...parameters,
      },
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'Give the boat a red sail', image_url: 'https://example.com/boat.jpg' },
        {
          prompt: 'The plate, seen from above',
          image_url: 'https://example.com/plate.jpg',
          aspect_ratio: '4:3',
          num_images: 2,
          output_format: 'jpeg',
          seed: 34,
        },
      ],
    },
  },
})

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

const bindings: Binding[] = [
  ...bindingsOf('nano-banana-2-lite-t2i', 'google/nano-banana-2-lite', []),
  // fal names the model for edits without its number.
  ...bindingsOf('nano-banana-2-lite-i2i', 'google/nano-banana-lite/edit', [
    { from: 'image_url', to: 'image_urls', as: 'files' },
  ]),
]

export const nanoBanana2Lite: Model = { family, bindings }
