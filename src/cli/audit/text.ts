/** The texts of a damaged log may hold anything, also characters that control a terminal. */
export const printable = (text: string): string =>
  text.replaceAll(/\p{C}/gu, found => JSON.stringify(found).slice(1, -1))

/** Such as `1,234 events`, or `1 event`. */
export const count = (number: number, noun: string): string =>
  `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
