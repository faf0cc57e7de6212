import { createRandom, hashText } from '../random.ts'
import { chooseMood } from './mood.ts'
import type { SceneName } from './palettes.ts'
import { drawScene } from './scene.ts'
import { drawSky } from './sky.ts'
import { createStage, type Stage } from './stage.ts'

/** Draws a landscape to match a prompt. With `inLayers`, the foreground gets its own canvas. */
export function drawLandscape(view: LandscapeView): Landscape {
  // The seed excludes the size, so that a prompt gives the same view at every resolution.
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

interface Landscape extends Stage {
  /** The height of the shore, if there is water. */
  waterline?: number
}

const wet: ReadonlySet<SceneName> = new Set(['peaks', 'sea'])
