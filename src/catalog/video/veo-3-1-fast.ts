import { type Model, videoFamily } from '../families.ts'
import { priceRule } from '../price-rule.ts'
import { veo31Bindings, veo31FalPrice, veo31ImageToVideo, veo31TextToVideo, veo31VideoToVideo } from './veo.ts'

// With sound, 4K costs the vendor less than three times as much; without, three times.
const pricing = priceRule(10, {
  quantities: ['duration'],
  multipliers: { generate_audio: { true: 1.5, false: 1 }, resolution: { '720p': 1, '1080p': 1, '4K': 3 } },
})

const extension = priceRule(10, {
  quantities: ['duration'],
  multipliers: { generate_audio: { true: 1.5, false: 1 } },
})

/** Google's Veo 3.1 Fast. Parameters and prices follow https://fal.ai/models/fal-ai/veo3.1/fast/api. */
const family = videoFamily({
  id: 'veo-3-1-fast',
  name: 'Veo 3.1 Fast',
  endpoints: {
    t2v: {
      description: 'Generates a video with sound from text, faster and cheaper than Veo 3.1.',
      parameters: veo31TextToVideo,
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'A child flies a kite on a hill, wind in the grass' },
        {
          prompt: 'A potter shapes a bowl, close up',
          aspect_ratio: '9:16',
          duration: 4,
          resolution: '1080p',
          generate_audio: false,
          negative_prompt: 'blur',
          auto_fix: true,
          safety_tolerance: '5',
          seed: 40,
        },
      ],
    },
    i2v: {
      description: 'Animates an image with sound, faster and cheaper than Veo 3.1.',
      parameters: veo31ImageToVideo,
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'The cat yawns and stretches', image_url: 'https://example.com/cat.jpg' },
        {
          prompt: 'Snow begins to fall',
          image_url: 'https://example.com/square.jpg',
          aspect_ratio: 'auto',
          duration: 6,
          resolution: '720p',
          generate_audio: true,
          seed: 1,
        },
      ],
    },
    v2v: {
      description: 'Extends a video by 7 seconds, with sound, faster and cheaper than Veo 3.1.',
      parameters: veo31VideoToVideo,
      required: ['prompt', 'video_url'],
      pricing: extension,
      examples: [
        { prompt: 'The cat jumps off the sofa', video_url: 'https://example.com/cat.mp4' },
        {
          prompt: 'Pigeons fly up',
          video_url: 'https://example.com/square.mp4',
          aspect_ratio: '9:16',
          generate_audio: true,
          auto_fix: false,
          safety_tolerance: '4',
          seed: 41,
        },
      ],
    },
  },
})

const bindings = veo31Bindings(
  'veo-3-1-fast',
  'fal-ai/veo3.1/fast',
  'google/veo-3.1-fast',
  veo31FalPrice({ silent: 0.1, sound: 0.15, silent4K: 0.3, sound4K: 0.35 }),
)

export const veo31Fast: Model = { family, bindings }
