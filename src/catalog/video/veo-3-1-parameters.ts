import {
  aspectRatio,
  durationOf,
  generateAudio,
  imageUrl,
  negativePrompt,
  prompt,
  safetyTolerance,
  seed,
  videoResolution,
} from '../parameters.ts'
import { flag } from '../shapes.ts'

const common = {
  duration: durationOf([4, 6, 8], 8),
  resolution: videoResolution(['720p', '1080p', '4K'], '720p'),
  generate_audio: generateAudio,
  negative_prompt: negativePrompt(),
  auto_fix: flag('Auto fix', 'Rewrites a prompt that the moderation would refuse.', true),
  safety_tolerance: safetyTolerance(6, '4'),
  seed: seed('video'),
}

/** What both models of Veo 3.1 take to make a video from a text. */
export const veo31TextToVideo = {
  prompt: prompt('What happens, how it looks and how it sounds.', 20_000),
  aspect_ratio: aspectRatio(['16:9', '9:16'], '16:9'),
  ...common,
}

/** What both models of Veo 3.1 take to bring an image to life. */
export const veo31ImageToVideo = {
  prompt: prompt('What happens, and how it sounds.', 20_000),
  image_url: imageUrl('The first frame'),
  aspect_ratio: aspectRatio(['auto', '16:9', '9:16'], 'auto', 'the image'),
  ...common,
}
