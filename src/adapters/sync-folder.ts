import { open } from 'node:fs/promises'

/** Makes the names in a folder durable. A new or moved file may lose its name in a power failure before this. */
export const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
