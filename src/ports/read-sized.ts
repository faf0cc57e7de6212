/** Reads a body of a known size. Takes its memory once: collected pieces would take it twice when they are joined. */
export const readSized = async (body: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<Uint8Array> => {
  const bytes = new Uint8Array(sizeBytes)
  let filled = 0
  for await (const piece of body) {
    if (filled + piece.byteLength > sizeBytes) throw new RangeError(`The body has more than ${sizeBytes} bytes.`)
    bytes.set(piece, filled)
    filled += piece.byteLength
  }
  if (filled < sizeBytes) throw new RangeError(`The body has ${filled} bytes instead of ${sizeBytes}.`)
  return bytes
}
