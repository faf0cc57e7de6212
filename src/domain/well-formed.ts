/**
 * A JSON Pointer to the first text in a JSON value that holds half of a surrogate pair, for which JSON has no canonical
 * form; undefined if there is none. A name of a field is a text too.
 */
export const illFormedPlace = (value: unknown, place = ''): string | undefined => {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : place
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, part] of Object.entries(value)) {
    const inside = `${place}/${name.toWellFormed()}`
    const found = name.isWellFormed() ? illFormedPlace(part, inside) : inside
    if (found !== undefined) return found
  }
  return undefined
}
