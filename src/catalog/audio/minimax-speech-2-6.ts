import type { Binding } from '../../../schemas/binding.ts'
import { onFal, onReplicate } from '../bindings/providers.ts'
import { implied, same } from '../bindings/rules.ts'
import { each, usd } from '../bindings/usd.ts'
import { type Model, speechFamily } from '../families.ts'
import { choice, flag, integer, number, text } from '../parameter-schemas.ts'
import { MAX_SPEECH_LENGTH, speechFormat } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

/**
 * MiniMax's Speech 2.6 HD. Parameters follow https://replicate.com/minimax/speech-2.6-hd, the price
 * https://fal.ai/models/fal-ai/minimax/speech-2.6-hd.
 */
const family = speechFamily({
  id: 'minimax-speech-2-6',
  name: 'MiniMax Speech 2.6',
  endpoints: {
    t2a: {
      description: 'Reads text aloud in one of 40 languages, with control over emotion, speed and pitch.',
      parameters: {
        text: text('Text', 'The text to speak. <#1.5#> makes a pause of 1.5 seconds. It may also be sent as prompt.', {
          maxLength: MAX_SPEECH_LENGTH,
        }),
        voice_id: choice(
          'Voice',
          'The voice.',
          [
            ...['Wise_Woman', 'Friendly_Person', 'Inspirational_girl', 'Deep_Voice_Man', 'Calm_Woman', 'Casual_Guy'],
            ...['Lively_Girl', 'Patient_Man', 'Young_Knight', 'Determined_Man', 'Lovely_Girl', 'Decent_Boy'],
            ...['Imposing_Manner', 'Elegant_Man', 'Abbess', 'Sweet_Girl_2', 'Exuberant_Girl'],
          ],
          'Wise_Woman',
        ),
        speed: number('Speed', 'The speed; 1 is normal.', {
          minimum: 0.5,
          maximum: 2,
          default: 1,
        }),
        volume: number('Volume', 'The loudness; 1 is normal.', {
          minimum: 0.01,
          maximum: 10,
          default: 1,
        }),
        pitch: integer('Pitch', 'The pitch shift in semitones.', {
          minimum: -12,
          maximum: 12,
          default: 0,
        }),
        emotion: choice(
          'Emotion',
          'The mood of the voice. With auto, it follows the text.',
          ['auto', 'happy', 'sad', 'angry', 'fearful', 'disgusted', 'surprised', 'calm', 'fluent', 'neutral'],
          'auto',
        ),
        language_boost: choice(
          'Language',
          'The language to favour in pronunciation. With auto, it follows the text.',
          [
            ...['auto', 'English', 'Chinese', 'Chinese,Yue', 'Arabic', 'Russian', 'Spanish', 'French', 'Portuguese'],
            ...['German', 'Turkish', 'Dutch', 'Ukrainian', 'Vietnamese', 'Indonesian', 'Japanese', 'Italian', 'Korean'],
            ...['Thai', 'Polish', 'Romanian', 'Greek', 'Czech', 'Finnish', 'Hindi', 'Bulgarian', 'Danish', 'Hebrew'],
            ...['Malay', 'Slovak', 'Swedish', 'Croatian', 'Hungarian', 'Norwegian', 'Slovenian', 'Catalan', 'Nynorsk'],
            'Afrikaans',
          ],
          'auto',
        ),
        english_normalization: flag('English normalisation', 'Reads numbers in English text better.', false),
        output_format: speechFormat,
      },
      required: ['text'],
      pricing: priceRule(10),
      examples: [
        { text: 'Welcome back. You have three new messages.' },
        {
          text: 'And then <#0.8#> the door opened.',
          voice_id: 'Elegant_Man',
          speed: 0.9,
          volume: 1.2,
          pitch: -2,
          emotion: 'fearful',
          language_boost: 'English',
          english_normalization: true,
          output_format: 'wav',
        },
      ],
    },
  },
})

const languages = [
  ...['English', 'Chinese', 'Chinese,Yue', 'Arabic', 'Russian', 'Spanish', 'French', 'Portuguese', 'German', 'Turkish'],
  ...['Dutch', 'Ukrainian', 'Vietnamese', 'Indonesian', 'Japanese', 'Italian', 'Korean', 'Thai', 'Polish', 'Romanian'],
  ...['Greek', 'Czech', 'Finnish', 'Hindi', 'Bulgarian', 'Danish', 'Hebrew', 'Malay', 'Slovak', 'Swedish', 'Croatian'],
  ...['Hungarian', 'Norwegian', 'Slovenian', 'Catalan', 'Nynorsk', 'Afrikaans'],
]

const bindings: Binding[] = [
  // It has all moods and formats, unlike fal.
  onReplicate('minimax-speech-2-6-t2a', 'minimax/speech-2.6-hd', {
    parameters: [
      ...same('text', 'voice_id', 'speed', 'volume', 'pitch', 'emotion', 'english_normalization'),
      {
        from: 'language_boost',
        to: 'language_boost',
        values: { auto: 'Automatic', ...Object.fromEntries(languages.map(language => [language, language])) },
      },
      { from: 'output_format', to: 'audio_format' },
    ],
  }),
  onFal('minimax-speech-2-6-t2a', 'fal-ai/minimax/speech-2.6-hd', {
    parameters: [
      ...same('language_boost'),
      { from: 'text', to: 'prompt' },
      { from: 'voice_id', to: 'voice_setting.voice_id' },
      { from: 'speed', to: 'voice_setting.speed' },
      { from: 'volume', to: 'voice_setting.vol' },
      { from: 'pitch', to: 'voice_setting.pitch' },
      {
        from: 'emotion',
        to: 'voice_setting.emotion',
        omit: ['auto'],
        only: ['happy', 'sad', 'angry', 'fearful', 'disgusted', 'surprised', 'neutral'],
      },
      { from: 'english_normalization', to: 'voice_setting.english_normalization' },
      implied('output_format', 'mp3'),
    ],
    // Otherwise, the result has the sound in hexadecimal rather than an address.
    constants: { output_format: 'url' },
    // https://fal.ai/models/fal-ai/minimax/speech-2.6-hd: 10 US cents for 1,000 characters.
    price: usd(each('characters', 0.0001)),
  }),
]

export const minimaxSpeech26: Model = { family, bindings }
