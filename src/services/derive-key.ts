import { createHmac } from 'node:crypto'

/** Derives a 32-byte key for one purpose. It reveals neither the master secret nor the key of another purpose. */
export const deriveKey = (masterSecret: string, purpose: string): Buffer =>
  createHmac('sha256', masterSecret).update(purpose).digest()
