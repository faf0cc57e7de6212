import { videoFamily } from '../families.ts'
import { flag } from '../parameter-schemas.ts'
import {
  aspectRatio,
  durationWithin,
  generateAudio,
  imageUrl,
  prompt,
  safetyChecker,
  seed,
  videoResolution,
} from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

const ratios = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16']

const common = {
  duration: durationWithin(4, 12, 5),
  resolution: videoResolution(['480p', '720p', '1080p'], '720p'),
  generate_audio: generateAudio,
  camera_fixed: flag('Fixed camera', 'Keeps the camera fixed.', false),
  enable_safety_checker: safetyChecker,
  seed: seed('video'),
}

// The vendor charges by pixels: 480p has 0.45 times as many as 720p, and 1080p 2.25 times.
const pricing = priceRule(2.6, {
  quantities: ['duration'],
  multipliers: {
    generate_audio: { true: 2, false: 1 },
    resolution: { '480p': 0.45, '720p': 1, '1080p': 2.25 },
  },
})

/**
 * ByteDance's Seedance 1.5 Pro. Parameters and prices follow
 * https://fal.ai/models/fal-ai/bytedance/seedance/v1.5/pro/text-to-video/api.
 */
export const seedance15Pro = videoFamily({
  id: 'seedance-1-5-pro',
  name: 'Seedance 1.5 Pro',
  endpoints: {
    t2v: {
      description: 'Generates a video with speech and sound from text, 4 to 12 seconds.',
      parameters: {
        prompt: prompt('The action, look and speech of the video.'),
        aspect_ratio: aspectRatio(ratios, '16:9'),
        ...common,
      },
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'A lawyer speaks to the jury, the camera moves in' },
        {
          prompt: 'A river delta from above',
          aspect_ratio: '21:9',
          duration: 9,
          resolution: '1080p',
          generate_audio: false,
          camera_fixed: true,
          enable_safety_checker: true,
          seed: 64,
        },
      ],
    },
    i2v: {
      description: 'Animates an image with speech and sound, 4 to 12 seconds.',
      parameters: {
        prompt: prompt('The action and speech of the video.'),
        image_url: imageUrl('The first frame'),
        aspect_ratio: aspectRatio(['auto', ...ratios], 'auto', 'the image'),
        ...common,
      },
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'He sighs and says: I should have known', image_url: 'https://example.com/man.jpg' },
        {
          prompt: 'The fountain starts',
          image_url: 'https://example.com/fountain.jpg',
          aspect_ratio: '4:3',
          duration: 4,
          resolution: '480p',
          generate_audio: true,
          camera_fixed: true,
          seed: 13,
        },
      ],
    },
  },
})
