/** A value in a provider's result, and the object that contains it, if any. */
export interface Found {
  value: unknown
  parent: Record<string, unknown> | undefined
}

/**
 * The values at a path such as `images.*.url`, in which `*` stands for each item of a list. The empty path is the
 * result itself. Missing values are skipped.
 */
export const valuesAt = (result: unknown, path: string): Found[] => {
  let found: Found[] = [{ value: result, parent: undefined }]
  for (const name of path.split('.').filter(Boolean)) found = found.flatMap(each => step(each, name))
  return found
}

const step = ({ value, parent }: Found, name: string): Found[] => {
  if (Array.isArray(value)) return name === '*' ? value.map(item => ({ value: item, parent })) : []
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return []
  const object = value as Record<string, unknown>
  return [{ value: object[name], parent: object }]
}
