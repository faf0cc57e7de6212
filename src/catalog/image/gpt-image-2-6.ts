import type { Binding, ParameterRule } from '../../../schemas/binding.ts'
import { onOpenAiEdit, onOpenAiGenerate } from '../bindings/providers.ts'
import { range, same } from '../bindings/rules.ts'
import { usdPerMillion } from '../bindings/usd.ts'
import { imageFamily, type Model } from '../families.ts'
import { choice, integer } from '../parameter-schemas.ts'
import { imageFormat, imageUrl, numImages, prompt } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

const size = (byDefault: string) =>
  choice('Size', 'Width and height in pixels.', ['1024x1024', '1536x1024', '1024x1536', 'auto'], byDefault)

const parameters = {
  quality: choice('Quality', 'The effort spent on the image.', ['low', 'medium', 'high'], 'high'),
  num_images: numImages(4),
  background: choice('Background', 'Whether the image has a background.', ['auto', 'transparent', 'opaque'], 'auto'),
  moderation: choice('Moderation', 'The strictness of content moderation.', ['auto', 'low'], 'auto'),
  output_format: imageFormat(['png', 'jpeg', 'webp'], 'png'),
  output_compression: integer('Output compression', 'The quality of JPEG and WebP files, in per cent.', {
    minimum: 0,
    maximum: 100,
    default: 100,
  }),
}

// With auto, the vendor chooses the size, so it costs as much as the most expensive size.
const sizes = { '1024x1024': 1, '1536x1024': 0.8, '1024x1536': 0.8, auto: 1 }

/**
 * OpenAI's GPT Image 2.6. Parameters follow https://developers.openai.com/api/reference/resources/images. It charges by
 * token, as much as for GPT Image 2, whose pictures cost 0.6, 5.3 and 21.1 US cents by OpenAI's guide. The rest covers
 * prompts and input images, which are always read in full detail.
 */
const family = imageFamily({
  id: 'gpt-image-2-6',
  name: 'GPT Image 2.6',
  replaces: ['gpt-image-1-5'],
  endpoints: {
    t2i: {
      description: 'Generates images from text, with or without a background.',
      parameters: { prompt: prompt('The content of the image.', 32_000), size: size('1024x1024'), ...parameters },
      required: ['prompt'],
      pricing: priceRule(1, {
        quantities: ['num_images'],
        multipliers: { quality: { low: 1, medium: 5.5, high: 21.5 }, size: sizes },
      }),
      examples: [
        { prompt: 'A children’s book drawing of a fox who repairs clocks' },
        {
          prompt: 'An icon of a paper aeroplane, flat, two colours',
          size: '1024x1024',
          quality: 'low',
          num_images: 4,
          background: 'transparent',
          moderation: 'low',
          output_format: 'webp',
          output_compression: 80,
        },
      ],
    },
    i2i: {
      description: 'Edits an image from a text instruction.',
      parameters: {
        prompt: prompt('The change to make to the image.', 32_000),
        image_url: imageUrl('The image to edit'),
        size: size('auto'),
        ...parameters,
      },
      required: ['prompt', 'image_url'],
      pricing: priceRule(1, {
        quantities: ['num_images'],
        multipliers: { quality: { low: 6, medium: 11, high: 27 }, size: sizes },
      }),
      examples: [
        { prompt: 'Give the dog a raincoat', image_url: 'https://example.com/dog.jpg' },
        {
          prompt: 'The same person as a watercolour portrait',
          image_url: 'https://example.com/portrait.jpg',
          size: '1024x1536',
          quality: 'medium',
          num_images: 2,
          output_format: 'jpeg',
          output_compression: 90,
        },
      ],
    },
  },
})

const rules: ParameterRule[] = [
  ...same('prompt', 'size', 'quality', 'background', 'output_format'),
  // The client's types lack the parameter for edits, unlike
  // https://developers.openai.com/api/reference/resources/images.
  { from: 'moderation', to: 'moderation', omit: ['auto'] },
  { from: 'num_images', to: 'n' },
  { from: 'output_compression', to: 'output_compression', omit: [100] },
]

const priced = {
  refuses: [
    { background: 'transparent', output_format: 'jpeg' },
    // PNG files have no quality.
    { output_format: 'png', output_compression: range(0, 99) },
  ],
  price: usdPerMillion({
    'input_tokens_details.text_tokens': 5,
    'input_tokens_details.image_tokens': 8,
    output_tokens: 30,
  }),
}

/**
 * Of the two models of GPT Image 2.6, OpenAI recommends this one. The other, flare, makes different pictures and cannot
 * replace it.
 */
const SUNBURST = 'gpt-image-2.6-sunburst'

const bindings: Binding[] = [
  onOpenAiGenerate('gpt-image-2-6-t2i', SUNBURST, { parameters: rules, ...priced }),
  onOpenAiEdit('gpt-image-2-6-i2i', SUNBURST, {
    parameters: [...rules, { from: 'image_url', to: 'image', as: 'files' }],
    ...priced,
  }),
]

export const gptImage26: Model = { family, bindings }
