import { type Picture, paint } from './paint.ts'

/** What a thread of the painter runs. */
export default (picture: Picture) => paint(picture)
