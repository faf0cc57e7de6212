/** Whether the objects and lists of a JSON value are nested in no more than so many levels. */
export const isNestedWithin = (levels: number, value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every(each => isNestedWithin(levels - 1, each)))
