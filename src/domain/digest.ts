import { hash } from 'node:crypto'

/** The first 128 bits of a text's SHA-256, as hex: enough to tell any number of texts apart. */
export const digest128 = (text: string): string => hash('sha256', text, 'hex').slice(0, 32)
