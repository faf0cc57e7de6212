import { hash } from 'node:crypto'

/** SHA-256 in lowercase hex. */
export const sha256 = (content: string | Uint8Array): string => hash('sha256', content, 'hex')

/** SHA-256 as 32 characters, one for each byte. Strings are made much faster than buffers. */
export const sha256Latin1 = (content: Uint8Array): string => hash('sha256', content, 'binary')

/** The first 128 bits of a text's SHA-256, as hex: enough to distinguish any number of texts. */
export const digest128 = (text: string): string => sha256(text).slice(0, 32)
