import { musicFamily } from '../families.ts'
import { durationOf, musicFormat, negativePrompt, prompt, seed } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

/**
 * Google's Lyria 2, as https://cloud.google.com/vertex-ai/generative-ai/docs/music/generate-music describes it. It
 * always makes 30 seconds; the parameter's only value says so.
 */
export const lyria2 = musicFamily({
  id: 'lyria-2',
  name: 'Lyria 2',
  endpoints: {
    t2a: {
      description: 'Generates 30 seconds of instrumental music from text.',
      parameters: {
        prompt: prompt('The genre, mood, instruments and tempo.'),
        negative_prompt: negativePrompt(),
        duration: durationOf([30], 30),
        output_format: musicFormat,
        seed: seed('audio'),
      },
      required: ['prompt'],
      pricing: priceRule(6),
      examples: [
        { prompt: 'Calm piano over soft strings, slow, melancholic' },
        {
          prompt: 'Fast bebop with saxophone and double bass',
          negative_prompt: 'vocals, drums',
          duration: 30,
          output_format: 'wav',
          seed: 19,
        },
      ],
    },
  },
})
