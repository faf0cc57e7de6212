import { Type } from 'typebox'
import { about } from './about.ts'
import { AcceptRanges, CacheControl, ContentDisposition, ContentRange, ETag } from './headers.ts'

/** The variable parts of a file's URL. Clients use the whole URL as they received it. */
export const filePlace = {
  folder: about(Type.String(), 'The folder: `outputs` or `uploads`.', 'outputs'),
  name: about(Type.String(), 'The unguessable name of the file.', '45d93e63b196ad2f3568870c00051596.png'),
}

/** Bytes have no JSON type in OpenAPI 3.1. Clients generated from a string would not accept a file without a cast. */
export const FileBytes = Type.Unsafe<Blob>({ contentMediaType: 'application/octet-stream' })

export const fileHeaders = {
  ETag,
  'Accept-Ranges': AcceptRanges,
  'Cache-Control': CacheControl,
  'Content-Disposition': Type.Optional(ContentDisposition),
}

export const partHeaders = { ...fileHeaders, 'Content-Range': ContentRange }

/** The `ETag` is absent if the file was deleted right after its arrival. */
export const sentHeaders = { ETag: Type.Optional(ETag) }
