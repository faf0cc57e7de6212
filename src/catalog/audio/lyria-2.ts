import type { Binding } from '../../../schemas/binding.ts'
import { onFal, onReplicate } from '../bindings/providers.ts'
import { implied, same, unlessEmpty } from '../bindings/rules.ts'
import { type Model, musicFamily } from '../families.ts'
import { durationOf, musicFormat, negativePrompt, prompt, seed } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

/**
 * Google's Lyria 2, as https://cloud.google.com/vertex-ai/generative-ai/docs/music/generate-music describes it. It
 * always makes 30 seconds; the parameter's only value says so.
 */
const family = musicFamily({
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

const common = [...same('prompt', 'seed'), implied('duration', 30), implied('output_format', 'wav')]

const bindings: Binding[] = [
  // An empty negative prompt is sent too, since fal has a default.
  onFal('lyria-2-t2a', 'fal-ai/lyria2', { parameters: [...common, ...same('negative_prompt')] }),
  onReplicate('lyria-2-t2a', 'google/lyria-2', { parameters: [...common, unlessEmpty('negative_prompt')] }),
]

export const lyria2: Model = { family, bindings }
