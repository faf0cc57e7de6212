import { videoFamily } from '../families.ts'
import { videoResolution } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'
import { sora2ImageToVideo, sora2TextToVideo } from './sora-2-parameters.ts'

const resolution = videoResolution(['720p'], '720p')
const pricing = priceRule(10, { quantities: ['duration'] })

/** OpenAI's Sora 2. Parameters and price follow https://fal.ai/models/fal-ai/sora-2/text-to-video/api. */
export const sora2 = videoFamily({
  id: 'sora-2',
  name: 'Sora 2',
  endpoints: {
    t2v: {
      description: 'Generates a video with sound from text, up to 20 seconds.',
      parameters: { ...sora2TextToVideo, resolution },
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'A street musician plays the accordion under a bridge, echoes' },
        {
          prompt: 'A paper boat goes down a gutter in the rain',
          aspect_ratio: '9:16',
          duration: 12,
          detect_and_block_ip: true,
          resolution: '720p',
        },
      ],
    },
    i2v: {
      description: 'Animates an image with sound, up to 20 seconds.',
      parameters: { ...sora2ImageToVideo, resolution },
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'The waves come in', image_url: 'https://example.com/beach.jpg' },
        {
          prompt: 'The dancers begin to turn',
          image_url: 'https://example.com/dancers.jpg',
          aspect_ratio: '16:9',
          duration: 8,
          detect_and_block_ip: false,
          resolution: '720p',
        },
      ],
    },
  },
})
