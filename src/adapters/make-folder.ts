import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/** Makes a folder and its parents. The recursive mkdir of Node.js never ends in `/proc`. */
export const makeFolder = (path: string) => {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    // Another process may have made it since.
    if (!existsSync(path)) throw error
  }
}
