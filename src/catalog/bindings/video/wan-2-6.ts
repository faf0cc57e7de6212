import type { Binding, ParameterRule } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { implied, pairs, same, unlessEmpty, withUnit } from '../rules.ts'
import { eachBy, usd } from '../usd.ts'

const replicate: ParameterRule[] = [
  ...same('prompt', 'duration', 'enable_prompt_expansion', 'multi_shots', 'seed'),
  unlessEmpty('negative_prompt'),
  implied('enable_safety_checker', true),
]

/** The vendor's sizes. Of these, others have sent those of 16:9 and 9:16 to Replicate. */
const sizeTable = pairs({
  '720p': { '16:9': '1280*720', '9:16': '720*1280', '1:1': '960*960', '4:3': '1088*832', '3:4': '832*1088' },
  '1080p': { '16:9': '1920*1080', '9:16': '1080*1920', '1:1': '1440*1440', '4:3': '1632*1248', '3:4': '1248*1632' },
})

/** fal has withdrawn its text-to-video, but not its image-to-video. */
export const wan26: Binding[] = [
  onReplicate('wan-2-6-t2v', 'wan-video/wan-2.6-t2v', {
    parameters: [...replicate, { from: ['resolution', 'aspect_ratio'], to: 'size', values: sizeTable }],
    unconfirmed: true,
  }),
  onFal('wan-2-6-i2v', 'wan/v2.6/image-to-video', {
    parameters: [
      ...same('prompt', 'resolution', 'enable_prompt_expansion', 'multi_shots', 'enable_safety_checker', 'seed'),
      withUnit('duration', '', [5, 10, 15]),
      unlessEmpty('negative_prompt'),
      { from: 'image_url', to: 'image_url', as: 'file' },
    ],
    // https://fal.ai/models/wan/v2.6/image-to-video
    price: usd(...eachBy('duration', 'resolution', { '720p': 0.1, '1080p': 0.15 })),
  }),
  onReplicate('wan-2-6-i2v', 'wan-video/wan-2.6-i2v', {
    parameters: [...replicate, ...same('resolution'), { from: 'image_url', to: 'image', as: 'file' }],
    unconfirmed: true,
  }),
]
