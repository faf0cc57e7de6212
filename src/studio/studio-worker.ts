import { makeFilm } from './film/film.ts'
import { begin } from './line.ts'
import { makePicture } from './picture/picture.ts'
import { makeRepaint } from './picture/repaint.ts'
import { makeScaled } from './picture/scaled.ts'
import { makeMusic } from './sound/music.ts'
import { makeSpeech } from './sound/speech.ts'
import type { Craft, Made, Unusable, Work } from './work.ts'

const crafts: Record<Craft, (work: Work) => Promise<Made | Unusable>> = {
  picture: makePicture,
  repaint: makeRepaint,
  scaled: makeScaled,
  film: makeFilm,
  music: makeMusic,
  speech: makeSpeech,
}

/** Runs in each worker thread. */
export default (work: Work) => {
  if (work.line) begin(work.line)
  return crafts[work.craft](work)
}
