import { aspectRatio, durationOf, imageUrl, prompt } from '../parameters.ts'
import { flag } from '../shapes.ts'

const common = {
  duration: durationOf([4, 8, 12, 16, 20], 4),
  detect_and_block_ip: flag('Block known characters', 'Refuses what shows known works, characters or brands.', false),
}

/** What both models of Sora 2 take to make a video from a text. */
export const sora2TextToVideo = {
  prompt: prompt('What happens, how it looks and how it sounds.'),
  aspect_ratio: aspectRatio(['16:9', '9:16'], '16:9'),
  ...common,
}

/** What both models of Sora 2 take to bring an image to life. */
export const sora2ImageToVideo = {
  prompt: prompt('What happens, and how it sounds.'),
  image_url: imageUrl('The first frame'),
  aspect_ratio: aspectRatio(['auto', '16:9', '9:16'], 'auto', 'the image'),
  ...common,
}
