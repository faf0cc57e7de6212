import type { Binding, ParameterRule } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { implied, same, sizes, unlessEmpty } from '../rules.ts'
import { eachBy, usd } from '../usd.ts'

/** Of the vendor's own sizes, the one for each ratio. */
const sizeTable = sizes({
  ...{ '1:1': '1024x1024', '4:3': '1152x864', '3:4': '864x1152', '3:2': '1248x832', '2:3': '832x1248' },
  ...{ '5:4': '1120x896', '4:5': '896x1120', '16:9': '1312x736', '9:16': '736x1312', '16:10': '1280x800' },
  ...{ '10:16': '800x1280', '2:1': '1408x704', '1:2': '704x1408', '3:1': '1536x512', '1:3': '512x1536' },
})

const fal: ParameterRule[] = [
  ...same('prompt', 'rendering_speed', 'style', 'expand_prompt', 'num_images', 'seed', 'strength'),
  unlessEmpty('negative_prompt'),
  { from: 'aspect_ratio', to: 'image_size', values: sizeTable },
  { from: 'image_url', to: 'image_url', as: 'file' },
]

/** https://fal.ai/models/fal-ai/ideogram/v3/api */
const falPrice = usd(...eachBy('outputs', 'rendering_speed', { TURBO: 0.03, BALANCED: 0.06, QUALITY: 0.09 }))

const replicate: ParameterRule[] = [
  ...same('prompt', 'aspect_ratio', 'seed'),
  {
    from: 'style',
    to: 'style_type',
    values: { AUTO: 'Auto', GENERAL: 'General', REALISTIC: 'Realistic', DESIGN: 'Design' },
  },
  { from: 'expand_prompt', to: 'magic_prompt_option', values: { true: 'On', false: 'Off' } },
  implied('num_images', 1),
  implied('negative_prompt', ''),
]

/** Replicate has a model for each speed. */
const speeds = { BALANCED: 'balanced', TURBO: 'turbo', QUALITY: 'quality' }

export const ideogramV3: Binding[] = [
  onFal('ideogram-v3-t2i', 'fal-ai/ideogram/v3', { parameters: fal, price: falPrice }),
  ...Object.entries(speeds).map(([speed, name]) =>
    onReplicate('ideogram-v3-t2i', `ideogram-ai/ideogram-v3-${name}`, {
      parameters: [...replicate, implied('rendering_speed', speed)],
    }),
  ),
  onFal('ideogram-v3-i2i', 'fal-ai/ideogram/v3/remix', { parameters: fal, price: falPrice }),
]
