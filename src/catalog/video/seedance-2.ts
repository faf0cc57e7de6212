import { videoFamily } from '../families.ts'
import { aspectRatio, durationWithin, generateAudio, imageUrl, prompt, videoResolution } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

const ratios = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16']

const common = {
  duration: durationWithin(4, 15, 5),
  resolution: videoResolution(['480p', '720p', '1080p', '4K'], '720p'),
  generate_audio: generateAudio,
}

// The vendor charges by pixels, of which 480p has almost half as many as 720p, and less for those of 4K.
const pricing = priceRule(30.4, {
  quantities: ['duration'],
  multipliers: { resolution: { '480p': 0.47, '720p': 1, '1080p': 2.25, '4K': 5.2 } },
})

/** ByteDance's Seedance 2.0, after https://fal.ai/models/bytedance/seedance-2.0/text-to-video/api. */
export const seedance2 = videoFamily({
  id: 'seedance-2',
  name: 'Seedance 2.0',
  replaces: ['seedance-1-5-pro'],
  endpoints: {
    t2v: {
      description: 'Generates a video with speech and sound from text, 4 to 15 seconds.',
      parameters: {
        prompt: prompt('The action, look and speech of the video.'),
        aspect_ratio: aspectRatio(['auto', ...ratios], '16:9'),
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
        },
      ],
    },
    i2v: {
      description: 'Animates an image with speech and sound, 4 to 15 seconds.',
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
        },
      ],
    },
  },
})
