import type { Binding, ParameterRule, PriceList } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { implied, same, unlessEmpty, unsaid, withUnit } from '../rules.ts'

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

interface UsdPerSecond {
  silent: number
  sounding: number
}

const usdPerSecond = ({ silent, sounding }: UsdPerSecond): PriceList => {
  const second = (usd: number, generate_audio: boolean) => ({
    ...{ unit: 'duration', micros: Math.round(usd * 1_000_000), per: 1, when: { generate_audio } },
  })
  return { currency: 'USD', units: [second(silent, false), second(sounding, true)] }
}

/** The bindings of both models. Google's own API has had none since 2026-10-22. */
const bindingsOf = (family: string, falModel: string, replicateModel: string, usd: UsdPerSecond): Binding[] => [
  onFal(`${family}-t2v`, falModel, { parameters: fal }),
  onReplicate(`${family}-t2v`, replicateModel, { parameters: replicate }),
  onFal(`${family}-i2v`, `${falModel}/image-to-video`, { parameters: fal }),
  onReplicate(`${family}-i2v`, replicateModel, { parameters: replicate }),
  onFal(`${family}-v2v`, `${falModel}/extend-video`, { parameters: falExtension, price: usdPerSecond(usd) }),
]

export const veo31 = bindingsOf('veo-3-1', 'fal-ai/veo3.1', 'google/veo-3.1', { silent: 0.2, sounding: 0.4 })
export const veo31Fast = bindingsOf('veo-3-1-fast', 'fal-ai/veo3.1/fast', 'google/veo-3.1-fast', {
  silent: 0.1,
  sounding: 0.15,
})
