import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'

export interface Folder {
  folder: string
  discard: () => Promise<void>
}

/** A folder for the length of a measurement, on the disk that the project is on, since some machines keep /tmp in memory. */
export const withFolder = async (): Promise<Folder> => {
  const folder = await mkdtemp(join(import.meta.dirname, '..', '.data-'))
  return { folder, discard: () => rm(folder, { recursive: true, force: true }) }
}
