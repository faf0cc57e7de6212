import type { Binding } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { implied, same } from '../rules.ts'
import { each, usd } from '../usd.ts'

const languages = [
  ...['English', 'Chinese', 'Chinese,Yue', 'Arabic', 'Russian', 'Spanish', 'French', 'Portuguese', 'German', 'Turkish'],
  ...['Dutch', 'Ukrainian', 'Vietnamese', 'Indonesian', 'Japanese', 'Italian', 'Korean', 'Thai', 'Polish', 'Romanian'],
  ...['Greek', 'Czech', 'Finnish', 'Hindi', 'Bulgarian', 'Danish', 'Hebrew', 'Malay', 'Slovak', 'Swedish', 'Croatian'],
  ...['Hungarian', 'Norwegian', 'Slovenian', 'Catalan', 'Nynorsk', 'Afrikaans'],
]

export const minimaxSpeech26: Binding[] = [
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
