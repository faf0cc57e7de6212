/** Whether a JSON value is nested in at most `levels` levels. */
export const isNestedWithin = (levels: number, value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every(each => isNestedWithin(levels - 1, each)))
