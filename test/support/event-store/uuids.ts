import shared, { type UUID } from '@eventstore/db-client/generated/shared_pb.js'

/** A UUID in either of its two wire forms, as text. */
export const toUuidText = (id: UUID | undefined): string => {
  const structured = id?.getStructured()
  if (!structured) return id?.getString() ?? ''
  const hex = [structured.getMostSignificantBits(), structured.getLeastSignificantBits()]
    .map(bits => BigInt.asUintN(64, BigInt(bits)).toString(16).padStart(16, '0'))
    .join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

export const toStructured = (text: string): UUID => {
  const hex = text.replaceAll('-', '')
  const bits = (digits: string) => String(BigInt.asIntN(64, BigInt(`0x${digits}`)))
  const structured = new shared.UUID.Structured()
    .setMostSignificantBits(bits(hex.slice(0, 16)))
    .setLeastSignificantBits(bits(hex.slice(16)))
  return new shared.UUID().setStructured(structured)
}
