import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { access, constants, mkdir, open, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Unavailable } from '../../ports/faults.ts'
import type { ObjectStore } from '../../ports/object-store.ts'

/** What a key may look like: a folder, and a name that cannot lead out of it. */
const KEY = /^[a-z]{1,32}\/[0-9a-f]{32}\.[a-z0-9]{1,8}$/

/** Objects as files. An object appears under its name only when it is whole and durable. */
export const openDiskObjectStore = async (folder: string): Promise<ObjectStore> => {
  const arriving = join(folder, 'arriving')
  try {
    await mkdir(arriving, { recursive: true })
    await access(arriving, constants.W_OK)
  } catch (error) {
    throw new Unavailable(`${folder} cannot be written (${(error as Error).message})`)
  }

  return {
    put: async (key, bytes) => {
      const path = pathOf(folder, key)
      const temporary = join(arriving, randomUUID())
      try {
        await writeDurably(temporary, bytes)
        if (await mkdir(dirname(path), { recursive: true })) await syncFolder(folder)
        await rename(temporary, path)
        await syncFolder(dirname(path))
      } catch (error) {
        await unlink(temporary).catch(() => undefined)
        throw error
      }
    },
    get: async key => {
      if (!KEY.test(key)) return undefined
      const path = pathOf(folder, key)
      const found = await stat(path).catch(absent)
      return found?.isFile() ? { sizeBytes: found.size, body: createReadStream(path) } : undefined
    },
    check: () => access(arriving, constants.W_OK),
  }
}

const pathOf = (folder: string, key: string): string => {
  if (!KEY.test(key)) throw new RangeError(`${JSON.stringify(key)} is not an object key`)
  return join(folder, key)
}

const writeDurably = async (path: string, bytes: Uint8Array) => {
  const file = await open(path, 'wx')
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** A rename is durable only when the folder that holds the name is. */
const syncFolder = async (path: string) => {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

const absent = (error: NodeJS.ErrnoException) => {
  if (error.code === 'ENOENT') return undefined
  throw error
}
