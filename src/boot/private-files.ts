import { chmodSync, mkdirSync } from 'node:fs'

/**
 * Keeps the files that this process creates from other users, and closes the data folder to them. Call it before any
 * store is opened.
 */
export const keepFilesPrivate = (dataDir: string) => {
  process.umask(0o077)
  try {
    mkdirSync(dataDir, { recursive: true })
    chmodSync(dataDir, 0o700)
  } catch {
    // A mounted folder may belong to another user. The stores report a folder that they cannot use.
  }
}
