import type { Binding } from '../../../../schemas/binding.ts'
import { onFal } from '../providers.ts'
import { implied, same } from '../rules.ts'
import { each, usd } from '../usd.ts'

/** Replicate has the model too, but makes MP3 files there, which the family does not offer. */
export const stableAudio25: Binding[] = [
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
