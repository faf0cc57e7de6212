import type { Binding } from '../../../schemas/binding.ts'
import { onFal } from '../bindings/providers.ts'
import { same } from '../bindings/rules.ts'
import { BY_PIXEL } from '../bindings/usd.ts'
import { imageFamily, type Model } from '../families.ts'
import { choice, integer } from '../parameter-schemas.ts'
import { imageFormat, inferenceSteps, numImages, prompt, promptExpansion, safetyChecker, seed } from '../parameters.ts'
import { priceRule, surcharge } from '../price-rule.ts'

/** One microcredit per pixel: an image of 1024 by 1024 pixels costs 1.05 credits. */
const CREDITS_PER_PIXEL = 0.000_001

const side = (title: string, description: string) =>
  integer(title, description, { minimum: 512, maximum: 2048, multipleOf: 16, default: 1024 })

/**
 * Z-Image Turbo by Tongyi-MAI of Alibaba. Parameters follow https://replicate.com/prunaai/z-image-turbo and
 * https://fal.ai/models/fal-ai/z-image/turbo/api, which also charges by pixel.
 */
const family = imageFamily({
  id: 'z-image-turbo',
  name: 'Z-Image Turbo',
  endpoints: {
    t2i: {
      description: 'Generates images from text in a second or two, charged by pixel.',
      parameters: {
        prompt: prompt('The content of the image.'),
        width: side('Width', 'The width in pixels.'),
        height: side('Height', 'The height in pixels.'),
        num_images: numImages(4),
        num_inference_steps: inferenceSteps(1, 8, 8),
        acceleration: choice(
          'Acceleration',
          'Generates the image faster, at some loss of quality.',
          ['none', 'regular', 'high'],
          'none',
        ),
        enable_prompt_expansion: promptExpansion(false),
        output_format: imageFormat(['png', 'jpeg', 'webp'], 'png'),
        enable_safety_checker: safetyChecker,
        seed: seed('image'),
      },
      required: ['prompt'],
      pricing: priceRule(CREDITS_PER_PIXEL, {
        quantities: ['width', 'height', 'num_images'],
        surcharges: [surcharge('enable_prompt_expansion', true, 0.0025)],
      }),
      examples: [
        { prompt: 'An old fisherman, portrait in black and white' },
        {
          prompt: 'A fox in the snow',
          width: 1536,
          height: 864,
          num_images: 4,
          num_inference_steps: 4,
          acceleration: 'high',
          enable_prompt_expansion: true,
          output_format: 'webp',
          enable_safety_checker: true,
          seed: 61,
        },
      ],
    },
  },
})

/**
 * Replicate has the model too, but without a safety checker, which the family has on by default:
 * https://replicate.com/prunaai/z-image-turbo, version e61b4c42.
 */
const bindings: Binding[] = [
  onFal('z-image-turbo-t2i', 'fal-ai/z-image/turbo', {
    parameters: [
      ...same('prompt', 'num_images', 'num_inference_steps', 'acceleration', 'enable_prompt_expansion'),
      ...same('output_format', 'enable_safety_checker', 'seed'),
      { from: 'width', to: 'image_size.width' },
      { from: 'height', to: 'image_size.height' },
    ],
    unpriced: BY_PIXEL,
  }),
]

export const zImageTurbo: Model = { family, bindings }
