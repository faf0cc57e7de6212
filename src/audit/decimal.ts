/** An integer with `places` decimal places as an exact decimal number: 1500000 with six places is 1.5. */
export const decimal = (value: bigint, places: number): string => fixed(value, places).replace(/\.?0+$/, '')

/** Formats an exact decimal number for people, such as −1,234.5. */
export const shown = (number: string): string =>
  number.replace('-', '−').replace(/\d+/, whole => BigInt(whole).toLocaleString('en'))

/** Formats millionths for people, such as 1,234.5. */
export const millionths = (number: number): string => shown(decimal(BigInt(number), 6))

/** Such as `1,234 events`, or `1 event`. */
export const count = (number: number, noun: string): string =>
  `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`

/** Microcredits as an exact decimal number of credits with six decimals, such as `-16.500000`. */
export const toCredits = (micros: number | bigint): string => fixed(BigInt(micros), 6)

/** An amount of money with at most six decimals, such as `12.50`, in millionths of its currency. */
export const microsOf = (amount: string): bigint => {
  const [whole = '', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(6, '0'))
}

const fixed = (value: bigint, places: number): string => {
  const digits = String(value < 0n ? -value : value).padStart(places + 1, '0')
  const whole = digits.length - places
  return `${value < 0n ? '-' : ''}${digits.slice(0, whole)}.${digits.slice(whole)}`
}
