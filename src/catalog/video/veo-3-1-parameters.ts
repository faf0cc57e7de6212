import { flag } from '../parameter-schemas.ts'
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
  videoUrl,
} from '../parameters.ts'

const others = {
  generate_audio: generateAudio,
  negative_prompt: negativePrompt(),
  auto_fix: flag('Auto fix', 'Rewrites a prompt that moderation would refuse.', true),
  safety_tolerance: safetyTolerance(6, '4'),
  seed: seed('video'),
}

const common = {
  duration: durationOf([4, 6, 8], 8),
  resolution: videoResolution(['720p', '1080p', '4K'], '720p'),
  ...others,
}

/** Text-to-video parameters of both Veo 3.1 models. */
export const veo31TextToVideo = {
  prompt: prompt('The action, look and sound of the video.', 20_000),
  aspect_ratio: aspectRatio(['16:9', '9:16'], '16:9'),
  ...common,
}

/** Image-to-video parameters of both Veo 3.1 models. */
export const veo31ImageToVideo = {
  prompt: prompt('The action and sound of the video.', 20_000),
  image_url: imageUrl('The first frame'),
  aspect_ratio: aspectRatio(['auto', '16:9', '9:16'], 'auto', 'the image'),
  ...common,
}

/** Video-to-video parameters of both Veo 3.1 models. The vendor has one length and one size for extensions. */
export const veo31VideoToVideo = {
  prompt: prompt('What happens next, and its sound.', 20_000),
  video_url: videoUrl('The video to extend, in 720p or 1080p and 16:9 or 9:16'),
  aspect_ratio: aspectRatio(['auto', '16:9', '9:16'], 'auto', 'the video'),
  duration: durationOf([7], 7),
  resolution: videoResolution(['720p'], '720p'),
  ...others,
}
