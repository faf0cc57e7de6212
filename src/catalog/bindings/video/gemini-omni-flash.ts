import type { Binding, ParameterRule } from '../../../../schemas/binding.ts'
import { onGoogleJobs } from '../providers.ts'
import { range, withUnit } from '../rules.ts'

const parameters: ParameterRule[] = [
  { from: 'prompt', to: 'input' },
  { from: 'image_url', to: 'image', as: 'file' },
  { from: 'aspect_ratio', to: 'response_format.aspect_ratio' },
  withUnit('duration', 's', range(3, 10), 'response_format.duration'),
  {
    from: 'resolution',
    to: 'response_format.resolution',
    values: { '360p': '360p', '720p': '720p', '1080p': '1080p', '4K': '4k' },
  },
]

const constants = {
  background: true,
  store: true,
  'response_format.type': 'video',
  'response_format.delivery': 'uri',
}

/** The newer version costs less and, unlike the other one, takes up to 15 seconds. The family offers what both have. */
const versions = ['gemini-omni-1.2-flash', 'gemini-omni-1.1-flash']

/** The client's types do not say what belongs into `response_format`. fal serves a version that Google has ended. */
export const geminiOmniFlash: Binding[] = ['gemini-omni-flash-t2v', 'gemini-omni-flash-i2v'].flatMap(endpoint =>
  versions.map(model => onGoogleJobs(endpoint, model, { parameters, constants, unconfirmed: true })),
)
