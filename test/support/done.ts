import { outputTypeOf } from '../../src/domain/catalog/family.ts'
import type { Done, Job, Media } from '../../src/ports/provider.ts'
import { tinyFilm, tinySound } from './sample-files.ts'
import { MEDIA } from './vendor.ts'

/** What a provider returns for a job: as many files as it asks for, of the promised type, and a text. */
export const doneFor = ({ endpoint, input }: Pick<Job, 'endpoint' | 'input'>, text = 'done'): Done => {
  const type = outputTypeOf(endpoint)
  const media = type === 'text' ? [] : Array<Media>(Number(input['num_images'] ?? 1)).fill(files[type])
  return { kind: 'done', media, text }
}

const files: Record<'image' | 'video' | 'audio', Media> = {
  image: { mimeType: 'image/png', bytes: MEDIA },
  video: { mimeType: 'video/mp4', bytes: tinyFilm() },
  audio: { mimeType: 'audio/wav', bytes: tinySound() },
}
