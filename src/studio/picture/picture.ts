import { drawLandscape } from '../landscape/landscape.ts'
import { type Made, textIn, type Work } from '../work.ts'
import { drawCaption } from './caption.ts'
import { encodePicture, formatIn } from './encode.ts'
import { drawGrain, drawVignette } from './finish.ts'
import { stillSize } from './frame-size.ts'

/** Paints a landscape. The same work always gives the same bytes. */
export async function makePicture({ input, seed }: Work): Promise<Made> {
  const prompt = textIn(input, 'prompt')
  const stage = drawLandscape({ prompt, seed, ...stillSize(input) })
  drawVignette(stage)
  drawGrain(stage, stage.random)
  drawCaption(stage, { prompt, seed })
  return encodePicture(stage.canvas, formatIn(input))
}
