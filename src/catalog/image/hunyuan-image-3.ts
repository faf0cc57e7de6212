import { imageFamily } from '../families.ts'
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
export const hunyuanImage3 = imageFamily({
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
