/** A colour as `#rrggbb`, which keeps the palettes easy to read and to edit. */
export type Colour = `#${string}`

/** A colour `share` of the way from one to the other. */
export function blend(from: Colour, to: Colour, share: number): Colour {
  const target = channels(to)
  const mixed = channels(from).map((value, index) => Math.round(value + ((target[index] ?? value) - value) * share))
  return `#${mixed.map(value => value.toString(16).padStart(2, '0')).join('')}`
}

/** A colour with transparency, in CSS. */
export function translucent(colour: Colour, alpha: number): string {
  return `rgba(${channels(colour).join(',')},${alpha.toFixed(4)})`
}

export function channels(colour: Colour): [red: number, green: number, blue: number] {
  const value = Number.parseInt(colour.slice(1), 16)
  return [value >> 16, (value >> 8) & 255, value & 255]
}
