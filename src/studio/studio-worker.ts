import { makeFilm } from './film/film.ts'
import { withOrigin } from './origin-mark.ts'
import { makePicture } from './picture/picture.ts'
import { makeRepaint, makeThumbnail } from './picture/repaint.ts'
import { makeMusic } from './sound/music.ts'
import { makeSpeech } from './sound/speech.ts'
import { type Craft, isUnusable, type Made, type Unusable, type Work } from './work.ts'
import { begin } from './worker-channel.ts'

const crafts: Record<Craft, (work: Work) => Promise<Made | Unusable>> = {
  picture: makePicture,
  repaint: makeRepaint,
  thumbnail: makeThumbnail,
  film: makeFilm,
  music: makeMusic,
  speech: makeSpeech,
}

/** Runs in each worker thread. */
export default async (work: Work) => {
  if (work.line) begin(work.line)
  const result = await crafts[work.craft](work)
  // A thumbnail may show the result of a model.
  return isUnusable(result) || work.craft === 'thumbnail' ? result : withOrigin(result)
}
