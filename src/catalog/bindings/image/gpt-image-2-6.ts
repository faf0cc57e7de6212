import type { Binding, ParameterRule } from '../../../../schemas/binding.ts'
import { onOpenAiEdit, onOpenAiGenerate } from '../providers.ts'
import { range, same } from '../rules.ts'
import { usdPerMillion } from '../usd.ts'

const parameters: ParameterRule[] = [
  ...same('prompt', 'size', 'quality', 'background', 'output_format'),
  // The client's types lack it for edits, unlike https://developers.openai.com/api/reference/resources/images.
  { from: 'moderation', to: 'moderation', omit: ['auto'] },
  { from: 'num_images', to: 'n' },
  { from: 'output_compression', to: 'output_compression', omit: [100] },
]

const common = {
  refuses: [
    { background: 'transparent', output_format: 'jpeg' },
    // PNG files have no quality.
    { output_format: 'png', output_compression: range(0, 99) },
  ],
  price: usdPerMillion({
    'input_tokens_details.text_tokens': 5,
    'input_tokens_details.image_tokens': 8,
    output_tokens: 30,
  }),
}

/**
 * OpenAI recommends this one of the two models of GPT Image 2.6. The other one, flare, is no stand-in: it makes other
 * pictures.
 */
const SUNBURST = 'gpt-image-2.6-sunburst'

export const gptImage26: Binding[] = [
  onOpenAiGenerate('gpt-image-2-6-t2i', SUNBURST, { parameters, ...common }),
  onOpenAiEdit('gpt-image-2-6-i2i', SUNBURST, {
    parameters: [...parameters, { from: 'image_url', to: 'image', as: 'files' }],
    ...common,
  }),
]
