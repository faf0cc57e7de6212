/** Such as `1 run`, or `2000 runs`. */
export const plural = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
