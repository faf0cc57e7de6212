import { type ByteRange, isObjectKey, MAX_DELETED } from '../../ports/object-store.ts'

export const expectKey = (key: string) => {
  if (!isObjectKey(key)) throw new RangeError(`${JSON.stringify(key)} is not an object key`)
}

/** Checks keys of objects that are deleted together. */
export const expectKeys = (keys: readonly string[]) => {
  for (const key of keys) expectKey(key)
  if (keys.length > MAX_DELETED) throw new RangeError(`${keys.length} keys are more than ${MAX_DELETED}`)
}

/** A range must start inside the object, but may end past it. */
export const expectRange = ({ start, end }: ByteRange, sizeBytes = Number.POSITIVE_INFINITY) => {
  const isRange = Number.isSafeInteger(start) && Number.isSafeInteger(end) && 0 <= start && start <= end
  if (!isRange || start >= sizeBytes) throw new RangeError(`there are no bytes from ${start} to ${end}`)
}
