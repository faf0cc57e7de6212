import { flag } from '../parameter-schemas.ts'
import { aspectRatio, durationOf, imageUrl, prompt } from '../parameters.ts'

const common = {
  duration: durationOf([4, 8, 12, 16, 20], 4),
  detect_and_block_ip: flag('Block known characters', 'Refuses known works, characters and brands.', false),
}

/** Text-to-video parameters of both Sora 2 models. */
export const sora2TextToVideo = {
  prompt: prompt('The action, look and sound of the video.'),
  aspect_ratio: aspectRatio(['16:9', '9:16'], '16:9'),
  ...common,
}

/** Image-to-video parameters of both Sora 2 models. */
export const sora2ImageToVideo = {
  prompt: prompt('The action and sound of the video.'),
  image_url: imageUrl('The first frame'),
  aspect_ratio: aspectRatio(['auto', '16:9', '9:16'], 'auto', 'the image'),
  ...common,
}
