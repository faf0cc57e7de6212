import type { Binding } from '../../../schemas/binding.ts'
import { onElevenLabs, onFal } from '../bindings/providers.ts'
import { implied, same } from '../bindings/rules.ts'
import { BY_PLAN, each, usd } from '../bindings/usd.ts'
import { type Model, speechFamily } from '../families.ts'
import { choice, text } from '../parameter-schemas.ts'
import { MAX_SPEECH_LENGTH, seed, speechFormat } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

/** ElevenLabs' Eleven v3. Parameters and price follow https://fal.ai/models/fal-ai/elevenlabs/tts/eleven-v3/api. */
const family = speechFamily({
  id: 'eleven-v3',
  name: 'Eleven v3',
  endpoints: {
    t2a: {
      description: 'Reads text aloud with expression, which tags such as [whispers] control.',
      parameters: {
        text: text('Text', 'The text to speak. It may also be sent as prompt.', { maxLength: MAX_SPEECH_LENGTH }),
        voice: choice(
          'Voice',
          'The voice.',
          [
            ...['Aria', 'Roger', 'Sarah', 'Laura', 'Charlie', 'George', 'Callum'],
            ...['River', 'Liam', 'Charlotte', 'Alice', 'Matilda', 'Will', 'Jessica'],
            ...['Eric', 'Chris', 'Brian', 'Daniel', 'Lily', 'Bill', 'Rachel'],
          ],
          'Rachel',
        ),
        stability: choice(
          'Stability',
          'The stability of the voice: 0 is creative, 0.5 natural, 1 robust.',
          [0, 0.5, 1],
          0.5,
        ),
        language_code: {
          ...text('Language', 'The language as an ISO 639-1 code. By default, it follows the text.', { maxLength: 2 }),
          pattern: '^[a-z]{2}$',
        },
        apply_text_normalization: choice(
          'Text normalisation',
          'Whether to spell out numbers, dates and units first.',
          ['auto', 'on', 'off'],
          'auto',
        ),
        output_format: speechFormat,
        seed: seed('audio'),
      },
      required: ['text'],
      pricing: priceRule(10),
      examples: [
        { text: 'The ferry leaves in ten minutes.' },
        {
          text: '[whispers] Listen. [excited] There it is again!',
          voice: 'Charlotte',
          stability: 0,
          language_code: 'en',
          apply_text_normalization: 'on',
          output_format: 'wav',
          seed: 23,
        },
      ],
    },
  },
})

/** The ids of the vendor's premade voices. */
const voices = {
  ...{ Aria: '9BWtsMINqrJLrRacOk9x', Roger: 'CwhRBWXzGAHq8TQ4Fs17', Sarah: 'EXAVITQu4vr4xnSDxMaL' },
  ...{ Laura: 'FGY2WhTYpPnrIDTdsKH5', Charlie: 'IKne3meq5aSn9XLyUdCD', George: 'JBFqnCBsd6RMkjVDRZzb' },
  ...{ Callum: 'N2lVS1w4EtoT3dr4eOWO', River: 'SAz9YHcvj6GT2YYXdXww', Liam: 'TX3LPaxmHKxFdv7VOQHJ' },
  ...{ Charlotte: 'XB0fDUnXU5powFXDhCwa', Alice: 'Xb7hH8MSUJpSbSDYk0k2', Matilda: 'XrExE9yKIg1WjnnlVkGX' },
  ...{ Will: 'bIHbv24MWmeRgasZH58o', Jessica: 'cgSgspJ2msm6clMCkdW9', Eric: 'cjVigY5qzO86Huf0OWal' },
  ...{ Chris: 'iP95p4xoKVk53GoZ742B', Brian: 'nPczCjzI2devNBz1zQrb', Daniel: 'onwK4e9ZLuTAKqWW03F9' },
  ...{ Lily: 'pFZP5JQG7iQjIQuC4Bku', Bill: 'pqHfZKP75CvOlQylNhV4', Rachel: '21m00Tcm4TlvDq8ikWAM' },
}

const bindings: Binding[] = [
  onElevenLabs('eleven-v3-t2a', 'eleven_v3', {
    parameters: [
      ...same('text', 'language_code', 'apply_text_normalization', 'seed'),
      { from: 'voice', to: 'voice_id', values: voices },
      { from: 'stability', to: 'voice_settings.stability' },
      // WAV at this rate needs the vendor's Pro plan.
      { from: 'output_format', to: 'output_format', values: { mp3: 'mp3_44100_128', wav: 'wav_44100' } },
    ],
    unpriced: BY_PLAN,
  }),
  onFal('eleven-v3-t2a', 'fal-ai/elevenlabs/tts/eleven-v3', {
    parameters: [
      ...same('text', 'voice', 'stability', 'language_code', 'apply_text_normalization'),
      implied('output_format', 'mp3'),
    ],
    // https://fal.ai/models/fal-ai/elevenlabs/tts/eleven-v3/api: 10 US cents for 1,000 characters.
    price: usd(each('characters', 0.0001)),
  }),
]

export const elevenV3: Model = { family, bindings }
