import type { Binding, ParameterRule } from '../../../schemas/binding.ts'
import { googleImage, googleImageConstants, googleResolution, googleSearch } from '../bindings/google-image.ts'
import { onFal, onGoogleImages, onReplicate } from '../bindings/providers.ts'
import { implied, same } from '../bindings/rules.ts'
import { eachBy, extra, usd, usdPerMillion } from '../bindings/usd.ts'
import { imageFamily, type Model } from '../families.ts'
import { choice, flag } from '../parameter-schemas.ts'
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

const parameters = {
  prompt: prompt('The content of the image.', 20_000),
  num_images: numImages(4),
  resolution: resolution('The size of the image: about 1, 4 or 16 megapixels.', ['1K', '2K', '4K'], '1K'),
  aspect_ratio: aspectRatio(
    [
      ...['auto', '1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '4:5', '5:4', '21:9'],
      ...['4:1', '1:4', '8:1', '1:8'],
    ],
    'auto',
  ),
  output_format: imageFormat(['png', 'jpeg', 'webp'], 'png'),
  enable_web_search: flag(
    'Web search',
    'Lets the model use current information from the internet, for a surcharge.',
    false,
  ),
  thinking_level: choice(
    'Thinking level',
    'Lets the model think first, and returns its thoughts as output.text. Empty or absent means off.',
    ['minimal', 'high'],
  ),
  safety_tolerance: safetyTolerance(6, '4'),
  seed: seed('image'),
}

const pricing = priceRule(10, {
  quantities: ['num_images'],
  multipliers: { resolution: { '1K': 1, '2K': 1.5, '4K': 2 } },
  surcharges: [surcharge('enable_web_search', true, 0.015)],
})

/** Google's Gemini 3.1 Flash Image, as https://ai.google.dev/gemini-api/docs/image-generation describes it. */
const family = imageFamily({
  id: 'nano-banana-2',
  aliases: ['nano'],
  name: 'Nano Banana 2',
  endpoints: {
    t2i: {
      description: 'Generates images from text, in 14 aspect ratios and up to 4K.',
      parameters,
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'A lighthouse on a cliff in a storm, oil painting' },
        {
          prompt: 'An infographic of the tallest bridges in the world, with their heights',
          num_images: 2,
          resolution: '2K',
          aspect_ratio: '4:5',
          output_format: 'webp',
          enable_web_search: true,
          thinking_level: 'high',
          safety_tolerance: '2',
          seed: 42,
        },
      ],
    },
    i2i: {
      description: 'Edits an image from a text instruction, in 14 aspect ratios and up to 4K.',
      parameters: { image_url: imageUrl('The image to edit'), ...parameters },
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'Make it winter', image_url: 'https://example.com/garden.jpg' },
        {
          prompt: 'Put the bicycle in front of a bakery in Lisbon',
          image_url: 'https://example.com/bicycle.png',
          num_images: 3,
          resolution: '4K',
          aspect_ratio: '16:9',
          output_format: 'jpeg',
          seed: 7,
        },
      ],
    },
  },
})

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
 * fal supports every parameter. Google has announced the end of its model without a date, so the successor comes last
 * and takes over when the other bindings refuse.
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

const bindings: Binding[] = [
  ...bindingsOf('nano-banana-2-t2i', 'fal-ai/nano-banana-2', []),
  ...bindingsOf('nano-banana-2-i2i', 'fal-ai/nano-banana-2/edit', [
    { from: 'image_url', to: 'image_urls', as: 'files' },
  ]),
]

export const nanoBanana2: Model = { family, bindings }
