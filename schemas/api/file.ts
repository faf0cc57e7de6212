import { Type } from 'typebox'
import { about } from './about.ts'
import { AcceptRanges, CacheControl, ContentRange, ETag } from './headers.ts'

/** Where a file lies. Clients take the address as a whole, from what they were answered. */
export const filePlace = {
  folder: about(Type.String(), 'Of the address: where files of its sort lie.', 'outputs'),
  name: about(
    Type.String(),
    'Of the address: the name, which cannot be guessed.',
    '45d93e63b196ad2f3568870c00051596.png',
  ),
}

export const FileBytes = Type.String({ contentMediaType: 'application/octet-stream' })

export const fileHeaders = { ETag, 'Accept-Ranges': AcceptRanges, 'Cache-Control': CacheControl }

export const partHeaders = { ...fileHeaders, 'Content-Range': ContentRange }

/** Missing where the file was taken away again at once. */
export const sentHeaders = { ETag: Type.Optional(ETag) }
