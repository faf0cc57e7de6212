import { generateKeyPairSync } from 'node:crypto'

/** A new private key in PEM, as SEAL_KEY takes it. */
export const newSealKeyPem = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
