const HERE = 'http://tollgate.invalid'

/** Where pages with forms are. */
const PLACES = ['/console/', '/docs/']

/** The path of a page of the console that a form names; undefined for anything else, such as another site. */
export const ownPath = (text: string): string | undefined => {
  if (!URL.canParse(text, HERE)) return undefined
  const { origin, pathname, search } = new URL(text, HERE)
  return origin === HERE && PLACES.some(place => pathname.startsWith(place)) ? pathname + search : undefined
}
