import { type ByteRange, isObjectKey } from '../../ports/object-store.ts'

export const expectKey = (key: string) => {
  if (!isObjectKey(key)) throw new RangeError(`${JSON.stringify(key)} is not an object key`)
}

/** A range must start inside the object, but may end past it. */
export const expectRange = ({ start, end }: ByteRange, sizeBytes = Number.POSITIVE_INFINITY) => {
  const isRange = Number.isSafeInteger(start) && Number.isSafeInteger(end) && 0 <= start && start <= end
  if (!isRange || start >= sizeBytes) throw new RangeError(`there are no bytes from ${start} to ${end}`)
}
