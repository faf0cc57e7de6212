import type { Binding, ParameterRule } from '../../../schemas/binding.ts'
import { onFal, onReplicate } from '../bindings/providers.ts'
import { implied, negated, same, sizes, unlessEmpty } from '../bindings/rules.ts'
import { BY_PIXEL, each, usd } from '../bindings/usd.ts'
import { imageFamily, type Model } from '../families.ts'
import { choice } from '../parameter-schemas.ts'
import {
  aspectRatio,
  guidanceScale,
  imageFormat,
  imageUrl,
  inferenceSteps,
  negativePrompt,
  numImages,
  prompt,
  safetyChecker,
  seed,
  strength,
} from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

const ratios = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3']

const parameters = {
  negative_prompt: negativePrompt(),
  num_images: numImages(4),
  guidance_scale: guidanceScale(0, 20, 2.5),
  num_inference_steps: inferenceSteps(2, 50, 30),
  acceleration: choice(
    'Acceleration',
    'Generates the image faster, at some loss of quality.',
    ['none', 'regular', 'high'],
    'none',
  ),
  output_format: imageFormat(['png', 'jpeg', 'webp'], 'png'),
  enable_safety_checker: safetyChecker,
  seed: seed('image'),
}

const pricing = priceRule(2.5, { quantities: ['num_images'] })

/**
 * Alibaba's Qwen-Image. Sizes and price follow https://replicate.com/qwen/qwen-image, the rest
 * https://fal.ai/models/fal-ai/qwen-image/api.
 */
const family = imageFamily({
  id: 'qwen-image',
  name: 'Qwen-Image',
  endpoints: {
    t2i: {
      description: 'Generates images from text; strong at Chinese and English lettering.',
      parameters: {
        prompt: prompt('The content of the image.'),
        aspect_ratio: aspectRatio(ratios, '16:9'),
        ...parameters,
      },
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'A tea house with the sign 静心 above its door' },
        {
          prompt: 'A blackboard with the theorem of Pythagoras',
          aspect_ratio: '4:3',
          negative_prompt: 'blurry',
          num_images: 2,
          guidance_scale: 4,
          num_inference_steps: 40,
          acceleration: 'regular',
          output_format: 'jpeg',
          enable_safety_checker: true,
          seed: 52,
        },
      ],
    },
    i2i: {
      description: 'Edits an image from a text instruction.',
      parameters: {
        prompt: prompt('The content of the image.'),
        image_url: imageUrl('The image to edit'),
        strength: strength('How far the result may differ from the image.', 0, 0.9),
        aspect_ratio: aspectRatio(['match_input_image', ...ratios], 'match_input_image'),
        ...parameters,
        output_format: imageFormat(['png', 'jpeg'], 'png'),
      },
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'The same house in the style of an ink painting', image_url: 'https://example.com/house.jpg' },
        {
          prompt: 'The shelf, full of books',
          image_url: 'https://example.com/shelf.jpg',
          strength: 0.6,
          aspect_ratio: '3:4',
          num_images: 4,
          guidance_scale: 3,
          acceleration: 'high',
          output_format: 'png',
          seed: 18,
        },
      ],
    },
  },
})

/** The sizes on the model's card, which Replicate also uses. */
const sizeTable = sizes({
  ...{ '1:1': '1328x1328', '16:9': '1664x928', '9:16': '928x1664', '4:3': '1472x1104' },
  ...{ '3:4': '1104x1472', '3:2': '1584x1056', '2:3': '1056x1584' },
})

const fal: ParameterRule[] = [
  ...same('prompt', 'num_images', 'guidance_scale', 'num_inference_steps', 'acceleration'),
  ...same('enable_safety_checker', 'seed', 'strength'),
  unlessEmpty('negative_prompt'),
  { from: 'output_format', to: 'output_format', only: ['png', 'jpeg'] },
  { from: 'aspect_ratio', to: 'image_size', omit: ['match_input_image'], values: sizeTable },
  { from: 'image_url', to: 'image_url', as: 'file' },
]

const replicate: ParameterRule[] = [
  ...same('prompt', 'num_inference_steps', 'seed', 'strength'),
  unlessEmpty('negative_prompt'),
  { from: 'guidance_scale', to: 'guidance', maximum: 10 },
  // Replicate has one level of acceleration.
  { from: 'acceleration', to: 'go_fast', values: { none: false, regular: true } },
  { from: 'output_format', to: 'output_format', values: { png: 'png', jpeg: 'jpg', webp: 'webp' } },
  { from: 'aspect_ratio', to: 'aspect_ratio', only: ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'] },
  { from: 'image_url', to: 'image', as: 'file' },
  negated('enable_safety_checker', 'disable_safety_checker'),
  implied('num_images', 1),
]

const onReplicateToo = (endpoint: string) =>
  onReplicate(endpoint, 'qwen/qwen-image', {
    parameters: replicate,
    // https://replicate.com/qwen/qwen-image
    price: usd(each('outputs', 0.025)),
  })

const bindings: Binding[] = [
  onFal('qwen-image-t2i', 'fal-ai/qwen-image', { parameters: fal, unpriced: BY_PIXEL }),
  onReplicateToo('qwen-image-t2i'),
  onFal('qwen-image-i2i', 'fal-ai/qwen-image/image-to-image', { parameters: fal, unpriced: BY_PIXEL }),
  // Replicate cannot keep the ratio of the image, the default, so it serves only requests with a ratio.
  onReplicateToo('qwen-image-i2i'),
]

export const qwenImage: Model = { family, bindings }
