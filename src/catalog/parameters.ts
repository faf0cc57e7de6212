import { choice, flag, integer, number, type Parameter, text } from './shapes.ts'

// Parameters that several families have. Names, values, bounds and defaults are the vendors' own.

/** Characters of a text whose vendor names no limit: a page or two, more than the models heed. */
const MAX_TEXT_LENGTH = 5_000

/** Characters of an address. A `data:` URL must leave room for the other parameters in an input's 256 KB. */
const MAX_IMAGE_URL_LENGTH = 200_000

/** What a signed 32-bit number holds: the least that the vendors agree on. */
const MAX_SEED = 2_147_483_647

export const prompt = (description: string, maxLength = MAX_TEXT_LENGTH): Parameter =>
  text('Prompt', description, { maxLength })

export const negativePrompt = (maxLength = MAX_TEXT_LENGTH, byDefault = ''): Parameter =>
  text('Negative prompt', 'What the result should not have.', { minLength: 0, maxLength, default: byDefault })

export const imageUrl = (role: string): Parameter => ({
  ...text('Image URL', `${role}: its http(s) address, as an upload has one, or the picture itself as a data: URL.`, {
    maxLength: MAX_IMAGE_URL_LENGTH,
  }),
  pattern: '^(https?://|data:)',
})

export const numImages = (maximum: number): Parameter =>
  integer('Number of images', 'How many pictures to make. Each is charged.', { minimum: 1, maximum, default: 1 })

export const seed = (result: 'picture' | 'video' | 'audio' | 'text'): Parameter =>
  integer('Seed', `The same seed and input give the same ${result}.`, { minimum: 0, maximum: MAX_SEED })

/** Some values are no ratios: with them the model chooses, or the input image decides. */
export const aspectRatio = (values: string[], byDefault: string, autoFollows = 'the prompt'): Parameter => {
  const notes = {
    auto: `With auto the model chooses from ${autoFollows}.`,
    match_input_image: 'With match_input_image it is that of the image.',
  }
  const told = Object.entries(notes).flatMap(([value, note]) => (values.includes(value) ? [note] : []))
  return choice('Aspect ratio', ['Width to height.', ...told].join(' '), values, byDefault)
}

export const resolution = (description: string, values: string[], byDefault: string): Parameter =>
  choice('Resolution', description, values, byDefault)

export const videoResolution = (values: string[], byDefault: string): Parameter =>
  resolution('The size of the video, by the lines of its shorter side.', values, byDefault)

export const imageFormat = (values: string[], byDefault: string): Parameter =>
  choice('Output format', 'The format of the picture file.', values, byDefault)

export const audioFormat = choice(
  'Output format',
  'The format of the audio file: Ogg Vorbis, or WAV without compression.',
  ['ogg', 'wav'],
  'ogg',
)

/** Seconds of which only some are offered. The bounds let a price count them. */
export const durationOf = (values: number[], byDefault: number): Parameter => ({
  ...choice('Duration', 'The length in seconds.', values, byDefault),
  minimum: Math.min(...values),
  maximum: Math.max(...values),
})

export const durationWithin = (minimum: number, maximum: number, byDefault: number): Parameter =>
  integer('Duration', 'The length in seconds.', { minimum, maximum, default: byDefault })

/** An enum, so that a price can have a table for it. */
export const generateAudio = choice('Audio', 'Gives the video sound that fits it.', [true, false], true)

/** Vendors write the levels as strings; the same as numbers are taken too. */
export const safetyTolerance = (loosest: number, byDefault: string): Parameter => {
  const levels = Array.from({ length: loosest }, (_, index) => index + 1)
  return {
    title: 'Safety tolerance',
    description: `How much the moderation lets through, from 1, the strictest, to ${loosest}.`,
    enum: [...levels.map(String), ...levels],
    default: byDefault,
  }
}

export const safetyChecker = flag('Safety checker', 'Holds back results that are not safe for work.', true)

export const promptExpansion = (byDefault: boolean): Parameter =>
  flag('Prompt expansion', 'Lets a language model write the prompt out in more detail first.', byDefault)

export const guidanceScale = (minimum: number, maximum: number, byDefault: number): Parameter =>
  number('Guidance scale', 'How closely the result follows the prompt. High values cost variety.', {
    minimum,
    maximum,
    default: byDefault,
  })

export const inferenceSteps = (minimum: number, maximum: number, byDefault: number): Parameter =>
  integer('Inference steps', 'How many steps the model takes. More steps give finer results and take longer.', {
    minimum,
    maximum,
    default: byDefault,
  })

export const strength = (description: string, minimum: number, byDefault: number): Parameter =>
  number('Strength', description, { minimum, maximum: 1, default: byDefault })
