import { choice, flag, integer, number, type Parameter, text } from './parameter-schemas.ts'

// Parameters that several families share. Their names, values, bounds and defaults come from the vendors.

/** The limit in characters if the vendor has none: a page or two, more than the models use. */
const MAX_TEXT_LENGTH = 5_000

/** The maximum length of a URL. A `data:` URL must leave room for the other parameters in an input's 256 KB. */
const MAX_IMAGE_URL_LENGTH = 200_000

/** The maximum signed 32-bit integer, which all vendors support. */
const MAX_SEED = 2_147_483_647

export const prompt = (description: string, maxLength = MAX_TEXT_LENGTH): Parameter =>
  text('Prompt', description, { maxLength })

export const negativePrompt = (maxLength = MAX_TEXT_LENGTH, byDefault = ''): Parameter =>
  text('Negative prompt', 'Things to avoid in the result.', { minLength: 0, maxLength, default: byDefault })

export const imageUrl = (role: string): Parameter => ({
  ...text('Image URL', `${role}: an http(s) URL, such as that of an upload, or a data: URL.`, {
    maxLength: MAX_IMAGE_URL_LENGTH,
  }),
  pattern: '^(https?://|data:)',
  format: 'uri',
})

/** The last frame of a video. Without it, the model chooses. */
export const endImageUrl = imageUrl('The last frame')

export const videoUrl = (role: string): Parameter => ({
  ...text('Video URL', `${role}: an http(s) URL, such as that of an upload or of a result.`, { maxLength: 2_048 }),
  pattern: '^https?://',
  format: 'uri',
})

export const numImages = (maximum: number): Parameter =>
  integer('Number of images', 'The number of images. Each is charged.', { minimum: 1, maximum, default: 1 })

export const seed = (result: 'image' | 'video' | 'audio' | 'text'): Parameter =>
  integer('Seed', `The same seed and input give the same ${result}.`, { minimum: 0, maximum: MAX_SEED })

/** Some values are not ratios: they leave the choice to the model or the input image. */
export const aspectRatio = (values: string[], byDefault: string, autoFollows = 'the prompt'): Parameter => {
  const notes = {
    auto: `With auto the model chooses from ${autoFollows}.`,
    match_input_image: 'match_input_image keeps the ratio of the input image.',
  }
  const noted = Object.entries(notes).flatMap(([value, note]) => (values.includes(value) ? [note] : []))
  return choice('Aspect ratio', ['Width to height.', ...noted].join(' '), values, byDefault)
}

export const resolution = (description: string, values: string[], byDefault: string): Parameter =>
  choice('Resolution', description, values, byDefault)

export const videoResolution = (values: string[], byDefault: string): Parameter =>
  resolution('The size of the video: the pixels of its shorter side.', values, byDefault)

export const imageFormat = (values: string[], byDefault: string): Parameter =>
  choice('Output format', 'The format of the image file.', values, byDefault)

export const speechFormat = choice(
  'Output format',
  'The format of the audio file: MP3, or uncompressed WAV.',
  ['mp3', 'wav'],
  'mp3',
)

export const musicFormat = choice('Output format', 'The format of the audio file: uncompressed WAV.', ['wav'], 'wav')

/** A duration with a fixed set of values. It has bounds, so that a price can multiply by it. */
export const durationOf = (values: number[], byDefault: number): Parameter => ({
  ...choice('Duration', 'The length in seconds.', values, byDefault),
  minimum: Math.min(...values),
  maximum: Math.max(...values),
})

export const durationWithin = (minimum: number, maximum: number, byDefault: number): Parameter =>
  integer('Duration', 'The length in seconds.', { minimum, maximum, default: byDefault })

/** An enum, so that a price can have a table for it. */
export const generateAudio = choice('Audio', 'Adds matching sound to the video.', [true, false], true)

/** Vendors use strings for the levels. Numbers are accepted too. */
export const safetyTolerance = (loosest: number, byDefault: string): Parameter =>
  choice(
    'Safety tolerance',
    `The tolerance of content moderation, from 1, the strictest, to ${loosest}. The numbers are accepted too.`,
    Array.from({ length: loosest }, (_, index) => String(index + 1)),
    byDefault,
  )

export const safetyChecker = flag('Safety checker', 'Blocks results that are not safe for work.', true)

export const promptExpansion = (byDefault: boolean): Parameter =>
  flag('Prompt expansion', 'Lets a language model expand the prompt first.', byDefault)

export const guidanceScale = (minimum: number, maximum: number, byDefault: number): Parameter =>
  number('Guidance scale', 'How closely the result follows the prompt. High values reduce variety.', {
    minimum,
    maximum,
    default: byDefault,
  })

export const inferenceSteps = (minimum: number, maximum: number, byDefault: number): Parameter =>
  integer('Inference steps', 'The number of steps. More steps take longer and give finer results.', {
    minimum,
    maximum,
    default: byDefault,
  })

export const strength = (description: string, minimum: number, byDefault: number): Parameter =>
  number('Strength', description, { minimum, maximum: 1, default: byDefault })

/** The longest spoken text. Prices do not count characters, so they cover at most this many. */
export const MAX_SPEECH_LENGTH = 1_000
