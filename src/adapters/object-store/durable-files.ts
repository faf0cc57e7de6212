import { link, mkdir, open, rename, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { StoreOptions } from '../../ports/object-store.ts'
import { syncFolder } from '../sync-folder.ts'
import { expectKey } from './checks.ts'
import { absent, type StagedFile, toDiskFault } from './staging.ts'

/** Files under keys in a folder. Storing and removing survive a power failure. */
export const durableFiles = (folder: string) => {
  const durable = new Set<string>()

  const makeFolder = async (path: string) => {
    const isNew = await mkdir(path, { recursive: true })
    if (!isNew && durable.has(path)) return
    // A folder that another process just created may not be durable yet.
    await syncFolder(folder)
    durable.add(path)
  }

  return {
    /** Moves a file to its key. Resolves to whether it did. */
    store: async (file: StagedFile, key: string, { ifAbsent = false }: StoreOptions = {}): Promise<boolean> => {
      try {
        expectKey(key)
        const path = join(folder, key)
        await file.complete()
        await file.file.sync()
        await makeFolder(dirname(path))
        const isStored = ifAbsent ? await linkNew(file.path, path) : await rename(file.path, path).then(() => true)
        // Also syncs for an existing object: the process that stored it may have died before this.
        await syncFolder(dirname(path))
        return isStored
      } catch (error) {
        throw toDiskFault(error)
      } finally {
        await file.discard()
      }
    },
    /** Writes over the bytes of a file. Resolves to false if there is none. */
    overwrite: async (key: string, bytes: Uint8Array): Promise<boolean> => {
      try {
        const file = await open(join(folder, key), 'r+').catch(absent)
        if (!file) return false
        try {
          await file.write(bytes, 0, bytes.byteLength, 0)
          await file.truncate(bytes.byteLength)
          await file.sync()
          return true
        } finally {
          await file.close()
        }
      } catch (error) {
        throw toDiskFault(error)
      }
    },
    remove: async (keys: readonly string[]) => {
      const paths = keys.map(key => join(folder, key))
      try {
        for (const path of paths) await unlink(path).catch(absent)
        // Also syncs without a file: an earlier removal may have failed here.
        for (const path of new Set(paths.map(dirname))) await syncFolder(path).catch(absent)
      } catch (error) {
        throw toDiskFault(error)
      }
    },
  }
}

/** Gives a file a second name. Resolves to false if the name is taken, while a rename would replace the file. */
const linkNew = (from: string, to: string): Promise<boolean> =>
  link(from, to).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false
      throw error
    },
  )
