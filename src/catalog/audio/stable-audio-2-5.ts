import type { Binding } from '../../../schemas/binding.ts'
import { onFal } from '../bindings/providers.ts'
import { implied, same } from '../bindings/rules.ts'
import { each, usd } from '../bindings/usd.ts'
import { type Model, musicFamily } from '../families.ts'
import { durationWithin, guidanceScale, inferenceSteps, musicFormat, prompt, seed } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

/**
 * Stability AI's Stable Audio 2.5. Parameters and price follow
 * https://fal.ai/models/fal-ai/stable-audio-25/text-to-audio, with the vendor's own name for the duration
 * (https://platform.stability.ai/docs/api-reference).
 */
const family = musicFamily({
  id: 'stable-audio-2-5',
  name: 'Stable Audio 2.5',
  endpoints: {
    t2a: {
      description: 'Generates music or sound effects from text, up to 190 seconds at one price.',
      parameters: {
        prompt: prompt('The genre, mood, instruments and tempo, or the sound.', 10_000),
        duration: durationWithin(1, 190, 190),
        num_inference_steps: inferenceSteps(4, 8, 8),
        guidance_scale: guidanceScale(1, 25, 1),
        output_format: musicFormat,
        seed: seed('audio'),
      },
      required: ['prompt'],
      pricing: priceRule(20),
      examples: [
        { prompt: 'A piano arpeggio grows into an orchestra' },
        {
          prompt: 'Lo-fi beat with vinyl crackle, 80 BPM',
          duration: 45,
          num_inference_steps: 6,
          guidance_scale: 3,
          output_format: 'wav',
          seed: 80,
        },
      ],
    },
  },
})

/** Replicate has the model too, but makes MP3 files there, which the family does not offer. */
const bindings: Binding[] = [
  onFal('stable-audio-2-5-t2a', 'fal-ai/stable-audio-25/text-to-audio', {
    parameters: [
      ...same('prompt', 'num_inference_steps', 'guidance_scale', 'seed'),
      { from: 'duration', to: 'seconds_total' },
      implied('output_format', 'wav'),
    ],
    // https://fal.ai/models/fal-ai/stable-audio-25/text-to-audio
    price: usd(each('runs', 0.2)),
  }),
]

export const stableAudio25: Model = { family, bindings }
