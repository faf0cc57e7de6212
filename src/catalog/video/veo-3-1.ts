import { type Model, videoFamily } from '../families.ts'
import { priceRule } from '../price-rule.ts'
import { veo31Bindings, veo31FalPrice, veo31ImageToVideo, veo31TextToVideo, veo31VideoToVideo } from './veo.ts'

// With sound, 4K costs the vendor less than twice as much; without, twice.
const pricing = priceRule(20, {
  quantities: ['duration'],
  multipliers: { generate_audio: { true: 2, false: 1 }, resolution: { '720p': 1, '1080p': 1, '4K': 2 } },
})

const extension = priceRule(20, {
  quantities: ['duration'],
  multipliers: { generate_audio: { true: 2, false: 1 } },
})

/** Google's Veo 3.1. Parameters and prices follow https://fal.ai/models/fal-ai/veo3.1/api. */
const family = videoFamily({
  id: 'veo-3-1',
  name: 'Veo 3.1',
  endpoints: {
    t2v: {
      description: 'Generates a video with sound from text, up to 8 seconds and 4K.',
      parameters: veo31TextToVideo,
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'Waves break on a rocky shore at dawn, gulls cry, the camera rises slowly' },
        {
          prompt: 'Two people at a market stall. She asks: How fresh is it? He answers: It still swims.',
          aspect_ratio: '9:16',
          duration: 6,
          resolution: '1080p',
          generate_audio: true,
          negative_prompt: 'text, subtitles',
          auto_fix: false,
          safety_tolerance: '3',
          seed: 17,
        },
      ],
    },
    i2v: {
      description: 'Animates an image with sound, up to 8 seconds and 4K.',
      parameters: veo31ImageToVideo,
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'The curtains move in the wind', image_url: 'https://example.com/window.jpg' },
        {
          prompt: 'The train leaves the station',
          image_url: 'https://example.com/station.jpg',
          aspect_ratio: '16:9',
          duration: 4,
          resolution: '4K',
          generate_audio: false,
          seed: 29,
        },
      ],
    },
    v2v: {
      description: 'Extends a video by 7 seconds, with sound.',
      parameters: veo31VideoToVideo,
      required: ['prompt', 'video_url'],
      pricing: extension,
      examples: [
        { prompt: 'The curtains fall still', video_url: 'https://example.com/window.mp4' },
        {
          prompt: 'The train disappears in a tunnel',
          video_url: 'https://example.com/station.mp4',
          aspect_ratio: '16:9',
          generate_audio: false,
          negative_prompt: 'people',
          safety_tolerance: '3',
          seed: 30,
        },
      ],
    },
  },
})

const bindings = veo31Bindings(
  'veo-3-1',
  'fal-ai/veo3.1',
  'google/veo-3.1',
  veo31FalPrice({ silent: 0.2, sound: 0.4, silent4K: 0.4, sound4K: 0.6 }),
)

export const veo31: Model = { family, bindings }
