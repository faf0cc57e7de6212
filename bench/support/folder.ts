import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'

export interface Folder {
  folder: string
  discard: () => Promise<void>
}

/** Creates a temporary folder on the project's disk, because /tmp may be in memory. */
export const withFolder = async (): Promise<Folder> => {
  const folder = await mkdtemp(join(import.meta.dirname, '..', '.data-'))
  return { folder, discard: () => rm(folder, { recursive: true, force: true }) }
}
