import { randomUUID } from 'node:crypto'
import { access, constants, type FileHandle, open, readdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { Unavailable } from '../../ports/faults.ts'
import { freeSpaceGuard } from '../free-space.ts'
import { makeFolder } from '../make-folder.ts'

/**
 * A file that has not grown for this long belongs to a dead process. A live process may still write to a newer file.
 */
const ABANDONED_MS = 60 * 60 * 1000
const SWEEP_EVERY_MS = 10 * 60 * 1000

/** A folder for incomplete files. */
interface Staging {
  /** Begins a file. `onBytes` receives all bytes in order. */
  receive(onBytes?: (bytes: Buffer) => void): Promise<StagedFile>
  /** Throws Unavailable while the disk takes no files. */
  ensureRoom(): void
  check(): Promise<void>
  /** Discards incomplete files, and stops sweeping. */
  close(): Promise<void>
}

export interface StagedFile {
  readonly path: string
  readonly file: FileHandle
  readonly body: Writable
  /** Resolves when the body has ended; rejects if it was destroyed. */
  complete(): Promise<void>
  /** Closes the file, and deletes it unless it was moved. Never rejects. */
  discard(): Promise<void>
}

interface StagingOptions {
  folder: string
  /** The mode of new files. */
  mode?: number
  /** With less free space on the disk, no bytes are accepted. */
  reserveBytes: number
}

/** Opens or creates the folder, and deletes abandoned files. */
export const openStaging = async ({ folder, mode, reserveBytes }: StagingOptions): Promise<Staging> => {
  const check = () => access(folder, constants.W_OK)
  try {
    makeFolder(folder)
    await check()
    await sweep(folder)
  } catch (error) {
    throw cannotWrite(folder, error)
  }
  const sweeping = setInterval(() => sweep(folder).catch(() => undefined), SWEEP_EVERY_MS).unref()
  const ensureFreeSpace = freeSpaceGuard(folder, reserveBytes)
  const files = new Set<StagedFile>()
  return {
    receive: async onBytes => {
      ensureFreeSpace()
      const created = await createFile(join(folder, randomUUID()), mode, bytes => {
        ensureFreeSpace()
        onBytes?.(bytes)
      })
      const discard = () => {
        files.delete(file)
        return created.discard()
      }
      const file = { ...created, discard }
      files.add(file)
      return file
    },
    ensureRoom: ensureFreeSpace,
    check,
    close: async () => {
      clearInterval(sweeping)
      await Promise.all([...files].map(file => file.discard()))
    },
  }
}

/** Maps errors of a disk that accepts no writes to Unavailable, and returns all others unchanged. */
export const toDiskFault = (error: unknown): unknown => {
  const { code = '', path = 'The disk' } = error as NodeJS.ErrnoException
  return NOT_WRITABLE.includes(code) ? cannotWrite(path, error) : error
}

/** The disk is full or read-only, the folder belongs to another user, or too many files are open. */
const NOT_WRITABLE = ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE']

const cannotWrite = (path: string, cause: unknown) =>
  new Unavailable(`${path} cannot be written (${(cause as Error).message})`, { part: 'objects', cause })

const sweep = async (folder: string) => {
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const found = await stat(path).catch(absent)
    if (found?.isFile() && found.mtimeMs < Date.now() - ABANDONED_MS) await unlink(path).catch(absent)
  }
}

/** `onBytes` may throw, which ends the file. */
const createFile = async (
  path: string,
  mode: number | undefined,
  onBytes: (bytes: Buffer) => void,
): Promise<StagedFile> => {
  const file = await open(path, 'wx+', mode).catch(error => {
    throw toDiskFault(error)
  })
  const body = new Writable({
    write: (bytes: Buffer, _encoding, done) => {
      try {
        onBytes(bytes)
      } catch (error) {
        return done(error as Error)
      }
      file.writeFile(bytes).then(
        () => done(),
        error => done(toDiskFault(error) as Error),
      )
    },
  })
  return {
    path,
    file,
    body,
    complete: () => finished(body),
    discard: async () => {
      body.destroy()
      // Waits for a write in progress.
      await file.close().catch(() => undefined)
      await unlink(path).catch(() => undefined)
    },
  }
}

/** Ignores the error of a file that does not exist. */
export const absent = (error: NodeJS.ErrnoException) => {
  if (error.code === 'ENOENT') return undefined
  throw error
}
