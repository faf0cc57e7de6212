import { chmodSync, mkdirSync } from 'node:fs'

/**
 * Keeps the files that this process creates from other users, and closes the data folder to them. Call it before any
 * store is opened.
 */
export const keepFilesPrivate = (dataDir: string) => {
  process.umask(0o077)
  mkdirSync(dataDir, { recursive: true })
  try {
    chmodSync(dataDir, 0o700)
  } catch (error) {
    // A mounted folder may belong to another user.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
  }
}
