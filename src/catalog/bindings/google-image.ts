import type { ParameterRule } from '../../../schemas/binding.ts'
import { implied } from './rules.ts'

const CATEGORIES = ['HARASSMENT', 'HATE_SPEECH', 'SEXUALLY_EXPLICIT', 'DANGEROUS_CONTENT']

const safety = (threshold: string) => CATEGORIES.map(category => ({ category: `HARM_CATEGORY_${category}`, threshold }))

/** Google has four thresholds, so neighbouring levels share one. */
const safetySettings = {
  1: safety('BLOCK_LOW_AND_ABOVE'),
  2: safety('BLOCK_MEDIUM_AND_ABOVE'),
  3: safety('BLOCK_MEDIUM_AND_ABOVE'),
  4: safety('BLOCK_ONLY_HIGH'),
  5: safety('BLOCK_ONLY_HIGH'),
  6: safety('BLOCK_NONE'),
}

/** The rules for all image models of the Gemini API. */
export const googleImage: ParameterRule[] = [
  { from: 'prompt', to: 'contents' },
  { from: 'num_images', to: 'count' },
  { from: 'image_url', to: 'image', as: 'file' },
  { from: 'aspect_ratio', to: 'config.imageConfig.aspectRatio', omit: ['auto'] },
  // The model chooses between PNG and JPEG, and the result states the type.
  implied('output_format', 'png'),
  { from: 'safety_tolerance', to: 'config.safetySettings', values: safetySettings },
  { from: 'seed', to: 'config.seed' },
]

export const googleResolution: ParameterRule = { from: 'resolution', to: 'config.imageConfig.imageSize' }

export const googleSearch: ParameterRule = {
  from: 'enable_web_search',
  to: 'config.tools',
  omit: [false],
  values: { true: [{ googleSearch: {} }] },
}

export const googleImageConstants = { 'config.responseModalities': ['TEXT', 'IMAGE'] }
