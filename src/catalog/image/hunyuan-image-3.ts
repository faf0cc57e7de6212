import type { Binding } from '../../../schemas/binding.ts'
import { onFal, onReplicate } from '../bindings/providers.ts'
import { implied, negated, same, sizes, unlessEmpty } from '../bindings/rules.ts'
import { each, usd } from '../bindings/usd.ts'
import { imageFamily, type Model } from '../families.ts'
import {
  aspectRatio,
  guidanceScale,
  imageFormat,
  inferenceSteps,
  negativePrompt,
  numImages,
  prompt,
  promptExpansion,
  safetyChecker,
  seed,
} from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

/**
 * Tencent's HunyuanImage 3.0. Sizes follow https://replicate.com/tencent/hunyuan-image-3, the rest and the price
 * https://fal.ai/models/fal-ai/hunyuan-image/v3/text-to-image/api.
 */
const family = imageFamily({
  id: 'hunyuan-image-3',
  name: 'HunyuanImage 3.0',
  endpoints: {
    t2i: {
      description: 'Generates images from text, including long prompts, with world knowledge.',
      parameters: {
        prompt: prompt('The content of the image.', 4_000),
        negative_prompt: negativePrompt(4_000),
        aspect_ratio: aspectRatio(['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'], '1:1'),
        num_images: numImages(4),
        guidance_scale: guidanceScale(1, 20, 7.5),
        num_inference_steps: inferenceSteps(1, 50, 28),
        enable_prompt_expansion: promptExpansion(false),
        output_format: imageFormat(['png', 'jpeg'], 'png'),
        enable_safety_checker: safetyChecker,
        seed: seed('image'),
      },
      required: ['prompt'],
      pricing: priceRule(10, { quantities: ['num_images'] }),
      examples: [
        { prompt: 'A step by step drawing of how to fold a paper crane' },
        {
          prompt: 'A crowd at a street festival, telephoto',
          negative_prompt: 'text, watermark',
          aspect_ratio: '3:2',
          num_images: 2,
          guidance_scale: 6,
          num_inference_steps: 50,
          enable_prompt_expansion: true,
          output_format: 'jpeg',
          enable_safety_checker: true,
          seed: 33,
        },
      ],
    },
  },
})

const sizeTable = sizes({
  ...{ '1:1': '1024x1024', '16:9': '1360x768', '9:16': '768x1360', '4:3': '1184x880' },
  ...{ '3:4': '880x1184', '3:2': '1248x832', '2:3': '832x1248' },
})

const bindings: Binding[] = [
  onFal('hunyuan-image-3-t2i', 'fal-ai/hunyuan-image/v3/text-to-image', {
    parameters: [
      ...same('prompt', 'num_images', 'guidance_scale', 'num_inference_steps', 'enable_prompt_expansion'),
      ...same('output_format', 'enable_safety_checker', 'seed'),
      unlessEmpty('negative_prompt'),
      { from: 'aspect_ratio', to: 'image_size', values: sizeTable },
    ],
    // https://fal.ai/models/fal-ai/hunyuan-image/v3/text-to-image/api
    price: usd(each('outputs', 0.1)),
  }),
  onReplicate('hunyuan-image-3-t2i', 'tencent/hunyuan-image-3', {
    parameters: [
      ...same('prompt', 'aspect_ratio', 'seed'),
      { from: 'output_format', to: 'output_format', values: { png: 'png', jpeg: 'jpg' } },
      negated('enable_safety_checker', 'disable_safety_checker'),
      implied('negative_prompt', ''),
      implied('num_images', 1),
      implied('guidance_scale', 7.5),
      implied('num_inference_steps', 28),
      implied('enable_prompt_expansion', false),
    ],
  }),
]

export const hunyuanImage3: Model = { family, bindings }
