import { speechFamily } from '../families.ts'
import { choice, text } from '../parameter-schemas.ts'
import { seed, speechFormat } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'
import { MAX_SPEECH_LENGTH } from './speech-length.ts'

/** ElevenLabs' Eleven v3. Parameters and price follow https://fal.ai/models/fal-ai/elevenlabs/tts/eleven-v3/api. */
export const elevenV3 = speechFamily({
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
