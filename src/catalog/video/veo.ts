import type { Binding, ParameterRule, PriceList } from '../../../schemas/binding.ts'
import { onFal, onReplicate } from '../bindings/providers.ts'
import { implied, same, unlessEmpty, unsaid, withUnit } from '../bindings/rules.ts'
import { each, usd } from '../bindings/usd.ts'
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

const fal: ParameterRule[] = [
  ...same('prompt', 'aspect_ratio', 'generate_audio', 'auto_fix', 'safety_tolerance', 'seed'),
  { from: 'resolution', to: 'resolution', values: { '720p': '720p', '1080p': '1080p', '4K': '4k' } },
  withUnit('duration', 's', [4, 6, 8]),
  unlessEmpty('negative_prompt'),
  { from: 'image_url', to: 'image_url', as: 'file' },
]

const falExtension: ParameterRule[] = [
  ...same('prompt', 'aspect_ratio', 'resolution', 'generate_audio', 'auto_fix', 'safety_tolerance', 'seed'),
  withUnit('duration', 's', [7]),
  unlessEmpty('negative_prompt'),
  { from: 'video_url', to: 'video_url', as: 'file' },
]

const replicate: ParameterRule[] = [
  ...same('prompt', 'generate_audio', 'duration', 'seed'),
  { from: 'resolution', to: 'resolution', only: ['720p', '1080p'] },
  { from: 'aspect_ratio', to: 'aspect_ratio', only: ['16:9', '9:16'] },
  unlessEmpty('negative_prompt'),
  { from: 'image_url', to: 'image', as: 'file' },
  // Replicate never rewrites a prompt. If moderation refuses the prompt, the run fails and is refunded.
  unsaid('auto_fix'),
  implied('safety_tolerance', '4'),
]

/**
 * The price of a second in US dollars: https://fal.ai/models/fal-ai/veo3.1 and https://fal.ai/models/fal-ai/veo3.1/fast
 */
export const veo31FalPrice = (prices: { silent: number; sound: number; silent4K: number; sound4K: number }) =>
  usd(
    ...['720p', '1080p'].flatMap(resolution => [
      each('duration', prices.silent, { resolution, generate_audio: false }),
      each('duration', prices.sound, { resolution, generate_audio: true }),
    ]),
    each('duration', prices.silent4K, { resolution: '4K', generate_audio: false }),
    each('duration', prices.sound4K, { resolution: '4K', generate_audio: true }),
  )

/** The bindings of both models. Google's own API has had none since 2026-10-22. */
export const veo31Bindings = (
  family: string,
  falModel: string,
  replicateModel: string,
  price: PriceList,
): Binding[] => [
  onFal(`${family}-t2v`, falModel, { parameters: fal, price }),
  onReplicate(`${family}-t2v`, replicateModel, { parameters: replicate }),
  onFal(`${family}-i2v`, `${falModel}/image-to-video`, { parameters: fal, price }),
  onReplicate(`${family}-i2v`, replicateModel, { parameters: replicate }),
  onFal(`${family}-v2v`, `${falModel}/extend-video`, { parameters: falExtension, price }),
]
