const MILLION = 1_000_000n

/** Microcredits as an exact decimal number of credits with six decimals, such as `-16.500000`. */
export const toCredits = (micros: number | bigint): string => {
  const amount = BigInt(micros)
  const digits = amount < 0n ? -amount : amount
  return `${amount < 0n ? '-' : ''}${digits / MILLION}.${String(digits % MILLION).padStart(6, '0')}`
}
