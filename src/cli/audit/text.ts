/** The texts of a damaged log may hold anything, also characters that control a terminal. */
export const printable = (text: string): string =>
  text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, found => {
    const escaped = JSON.stringify(found).slice(1, -1)
    return escaped === found ? escapedByCode(found) : escaped
  })

/** JSON leaves most characters of these kinds as they are. */
const escapedByCode = (character: string): string => {
  const code = (character.codePointAt(0) as number).toString(16)
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
}

/** Such as `1,234 events`, or `1 event`. */
export const count = (number: number, noun: string): string =>
  `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
