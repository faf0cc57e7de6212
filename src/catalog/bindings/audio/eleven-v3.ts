import type { Binding } from '../../../../schemas/binding.ts'
import { onElevenLabs, onFal } from '../providers.ts'
import { implied, same } from '../rules.ts'
import { BY_PLAN } from '../unpriced.ts'
import { each, usd } from '../usd.ts'

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

export const elevenV3: Binding[] = [
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
