import type { UsagePart } from '../../../projections/usage.ts'

/** The cursor after a group: the parts that were asked for, and the group's place. */
export const cursorOf = (place: string, parts: readonly UsagePart[]): string =>
  Buffer.from(`${parts.join()}/${place}`).toString('base64url')

/** The characters of a place, since a client may make a cursor of its own. */
const PLACE = /^[!-~]+$/

/** The place in a cursor; undefined if no page of these parts had this cursor. */
export const placeIn = (cursor: string, parts: readonly UsagePart[]): string | undefined => {
  const [asked, ...texts] = Buffer.from(cursor, 'base64url').toString().split('/')
  const isOfParts = asked === parts.join() && texts.length === parts.length + 1 && texts.at(-1) === ''
  return isOfParts && parts.length > 0 && PLACE.test(texts.join('/')) ? texts.join('/') : undefined
}
