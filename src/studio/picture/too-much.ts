/** A file that would take a decoder too long, or too much memory. The message ends the sentence “The image …”. */
export class TooMuch extends Error {
  override name = 'TooMuch'
}

/** Throws if there is more than any program writes. */
export function limit(noun: string, amount: number, max: number): void {
  if (amount > max) throw new TooMuch(`has more than ${max} ${noun}; save it again with an image editor`)
}
