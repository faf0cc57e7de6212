import { videoFamily } from '../families.ts'
import { videoResolution } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'
import { sora2ImageToVideo, sora2TextToVideo } from './sora-2-parameters.ts'

const resolution = videoResolution(['720p', '1080p'], '1080p')
const pricing = priceRule(10, { quantities: ['duration'], multipliers: { resolution: { '720p': 3, '1080p': 5 } } })

/** OpenAI's Sora 2 Pro. Parameters and prices follow https://fal.ai/models/fal-ai/sora-2/text-to-video/pro/api. */
export const sora2Pro = videoFamily({
  id: 'sora-2-pro',
  name: 'Sora 2 Pro',
  endpoints: {
    t2v: {
      description: 'Generates a video with sound from text, up to 20 seconds and 1080p.',
      parameters: { ...sora2TextToVideo, resolution },
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'An old couple dances in a kitchen, radio music, evening light' },
        {
          prompt: 'A drone flies through a canyon at sunrise',
          aspect_ratio: '16:9',
          duration: 20,
          detect_and_block_ip: true,
          resolution: '720p',
        },
      ],
    },
    i2v: {
      description: 'Animates an image with sound, up to 20 seconds and 1080p.',
      parameters: { ...sora2ImageToVideo, resolution },
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'She turns her head and smiles', image_url: 'https://example.com/portrait.jpg' },
        {
          prompt: 'The balloon lifts off',
          image_url: 'https://example.com/balloon.jpg',
          aspect_ratio: '9:16',
          duration: 8,
          detect_and_block_ip: false,
          resolution: '1080p',
        },
      ],
    },
  },
})
