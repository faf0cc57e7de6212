const HERE = 'http://tollgate.invalid'

/** The path of a page of the console that a form names; undefined for anything else, such as another site. */
export const ownPath = (text: string): string | undefined => {
  if (!URL.canParse(text, HERE)) return undefined
  const { origin, pathname, search } = new URL(text, HERE)
  return origin === HERE && pathname.startsWith('/console/') ? pathname + search : undefined
}
