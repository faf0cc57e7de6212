import { createRandom, hashText } from '../random.ts'
import { chooseMood } from './mood.ts'
import type { SceneName } from './palettes.ts'
import { drawScene } from './scene.ts'
import { drawSky } from './sky.ts'
import { createStage, type Stage } from './stage.ts'

/** Draws the landscape that a prompt calls for. With `inLayers`, what is nearest gets a canvas of its own. */
export function drawLandscape(view: LandscapeView): Landscape {
  // The size stays out of the seed, so that the same prompt gives the same view at a higher resolution.
  const random = createRandom(hashText(`${view.seed} ${view.prompt}`))
  const mood = chooseMood(view.prompt, random)
  const stage = createStage(view, mood.palette, random)
  drawSky(stage)
  drawScene(stage, mood.scene)
  return { ...stage, ...(wet.has(mood.scene) && { waterline: stage.shore }) }
}

export interface LandscapeView {
  prompt: string
  seed: number
  width: number
  height: number
  inLayers?: boolean
}

export interface Landscape extends Stage {
  /** Below it is water, if there is any. */
  waterline?: number
}

const wet: ReadonlySet<SceneName> = new Set(['peaks', 'sea'])
