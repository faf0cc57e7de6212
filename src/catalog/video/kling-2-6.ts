import type { Binding } from '../../../schemas/binding.ts'
import { onFal, onReplicate } from '../bindings/providers.ts'
import { type Model, videoFamily } from '../families.ts'
import { number } from '../parameter-schemas.ts'
import { aspectRatio, durationOf, endImageUrl, generateAudio, imageUrl, negativePrompt, prompt } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'
import { falKling, falKlingPrice, replicateKling } from './kling.ts'

/** The vendor's limit in characters, https://app.klingai.com/global/dev/document-api. */
const MAX_PROMPT_LENGTH = 2_500

const common = {
  duration: durationOf([5, 10], 5),
  generate_audio: generateAudio,
  negative_prompt: negativePrompt(MAX_PROMPT_LENGTH, 'blur, distort, and low quality'),
}

const pricing = priceRule(7, { quantities: ['duration'], multipliers: { generate_audio: { true: 2, false: 1 } } })

/** Kuaishou's Kling 2.6 Pro. Parameters and prices follow https://fal.ai/models/fal-ai/kling-video/v2.6/pro. */
const family = videoFamily({
  id: 'kling-2-6',
  name: 'Kling 2.6',
  endpoints: {
    t2v: {
      description: 'Generates a video with speech and sound from text, 5 or 10 seconds.',
      parameters: {
        prompt: prompt('The action, look and speech of the video.', MAX_PROMPT_LENGTH),
        aspect_ratio: aspectRatio(['16:9', '9:16', '1:1'], '16:9'),
        cfg_scale: number('Guidance', 'How closely the video follows the prompt.', {
          minimum: 0,
          maximum: 1,
          default: 0.5,
        }),
        ...common,
      },
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'A baker takes bread from the oven and says: good morning' },
        {
          prompt: 'A skateboarder jumps down a flight of stairs, slow motion',
          aspect_ratio: '1:1',
          cfg_scale: 0.7,
          duration: 10,
          generate_audio: false,
          negative_prompt: 'blur, crowd',
        },
      ],
    },
    i2v: {
      description: 'Animates an image with speech and sound, 5 or 10 seconds; to a last frame, if there is one.',
      parameters: {
        prompt: prompt('The action and speech of the video.', MAX_PROMPT_LENGTH),
        image_url: imageUrl('The first frame'),
        end_image_url: endImageUrl,
        ...common,
      },
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'The king walks up slowly', image_url: 'https://example.com/king.jpg' },
        {
          prompt: 'Leaves fall around the bench',
          image_url: 'https://example.com/bench.jpg',
          end_image_url: 'https://example.com/bench-in-snow.jpg',
          duration: 10,
          generate_audio: true,
          negative_prompt: 'people',
        },
      ],
    },
  },
})

const fal = falKling([5, 10])
/** https://fal.ai/models/fal-ai/kling-video/v2.6/pro */
const price = falKlingPrice(0.07, 0.14)

const bindings: Binding[] = [
  onFal('kling-2-6-t2v', 'fal-ai/kling-video/v2.6/pro/text-to-video', { parameters: fal, price }),
  onReplicate('kling-2-6-t2v', 'kwaivgi/kling-v2.6', { parameters: replicateKling }),
  onFal('kling-2-6-i2v', 'fal-ai/kling-video/v2.6/pro/image-to-video', { parameters: fal, price }),
  onReplicate('kling-2-6-i2v', 'kwaivgi/kling-v2.6', { parameters: replicateKling }),
]

export const kling26: Model = { family, bindings }
