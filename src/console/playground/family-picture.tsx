import type { ModelFamily } from '../../../schemas/api/model.ts'
import type { OutputType } from '../../../schemas/catalog.ts'
import { sampleOf } from '../front/pictures.ts'
import { Icon, type IconName } from '../parts/icon.tsx'

const ICONS: Readonly<Record<OutputType, IconName>> = {
  image: 'image',
  video: 'film',
  audio: 'audio-lines',
  text: 'text',
}

/** A picture that a family has made, or an icon of what it makes. */
export const FamilyPicture = ({ outputType, picture }: { outputType: OutputType; picture?: string | undefined }) =>
  picture === undefined ? (
    <span class="tile-icon">
      <Icon name={ICONS[outputType]} />
    </span>
  ) : (
    <img src={picture} alt="" width="48" height="48" loading="lazy" />
  )

/** A sample of what a family makes, if that can be seen. */
export const sampleFor = ({ id, output_type: type, status }: ModelFamily): string | undefined =>
  status !== 'test' && (type === 'image' || type === 'video') ? sampleOf(id) : undefined
