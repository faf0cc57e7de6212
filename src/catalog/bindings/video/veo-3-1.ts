import type { Binding, ParameterRule, PriceList } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { implied, same, unlessEmpty, unsaid, withUnit } from '../rules.ts'
import { each, usd } from '../usd.ts'

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
  // Replicate never rewrites a prompt: one that moderation refuses fails, and is refunded.
  unsaid('auto_fix'),
  implied('safety_tolerance', '4'),
]

/** A second in US dollars: https://fal.ai/models/fal-ai/veo3.1 and https://fal.ai/models/fal-ai/veo3.1/fast */
const falPrice = (prices: { silent: number; sound: number; silent4K: number; sound4K: number }) =>
  usd(
    ...['720p', '1080p'].flatMap(resolution => [
      each('duration', prices.silent, { resolution, generate_audio: false }),
      each('duration', prices.sound, { resolution, generate_audio: true }),
    ]),
    each('duration', prices.silent4K, { resolution: '4K', generate_audio: false }),
    each('duration', prices.sound4K, { resolution: '4K', generate_audio: true }),
  )

const slow = falPrice({ silent: 0.2, sound: 0.4, silent4K: 0.4, sound4K: 0.6 })
const fast = falPrice({ silent: 0.1, sound: 0.15, silent4K: 0.3, sound4K: 0.35 })

/** The bindings of both models. Google's own API has had none since 2026-10-22. */
const bindingsOf = (family: string, falModel: string, replicateModel: string, price: PriceList): Binding[] => [
  onFal(`${family}-t2v`, falModel, { parameters: fal, price }),
  onReplicate(`${family}-t2v`, replicateModel, { parameters: replicate }),
  onFal(`${family}-i2v`, `${falModel}/image-to-video`, { parameters: fal, price }),
  onReplicate(`${family}-i2v`, replicateModel, { parameters: replicate }),
  onFal(`${family}-v2v`, `${falModel}/extend-video`, { parameters: falExtension, price }),
]

export const veo31 = bindingsOf('veo-3-1', 'fal-ai/veo3.1', 'google/veo-3.1', slow)
export const veo31Fast = bindingsOf('veo-3-1-fast', 'fal-ai/veo3.1/fast', 'google/veo-3.1-fast', fast)
