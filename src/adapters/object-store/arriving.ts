import { randomUUID } from 'node:crypto'
import { access, constants, type FileHandle, mkdir, open, readdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { Unavailable } from '../../ports/faults.ts'

/** What has not grown for so long belongs to a process that died; another that lives may be writing what is younger. */
const ABANDONED_MS = 60 * 60 * 1000
const SWEEP_EVERY_MS = 10 * 60 * 1000

/** A folder where files lie while they come in. */
export interface Arriving {
  /** Begins a file. `onBytes` sees what comes, in its order. */
  receive(onBytes?: (bytes: Buffer) => void): Promise<ArrivingFile>
  check(): Promise<void>
  /** Discards what has not come in full, and sweeps no more. */
  close(): Promise<void>
}

export interface ArrivingFile {
  readonly path: string
  readonly file: FileHandle
  readonly body: Writable
  /** Resolves when all has come; rejects when the body was destroyed before. */
  complete(): Promise<void>
  /** Lets go of the file, and removes it unless it was moved away. Never rejects. */
  discard(): Promise<void>
}

/** Opens the folder, makes it where there is none, and removes what was abandoned there. Files in it get the mode. */
export const openArriving = async (folder: string, mode?: number): Promise<Arriving> => {
  const check = () => access(folder, constants.W_OK)
  try {
    await mkdir(folder, { recursive: true })
    await check()
    await sweep(folder)
  } catch (error) {
    throw cannotWrite(folder, error)
  }
  const sweeping = setInterval(() => sweep(folder).catch(() => undefined), SWEEP_EVERY_MS).unref()
  const files = new Set<ArrivingFile>()
  return {
    receive: async onBytes => {
      const begun = await begin(join(folder, randomUUID()), mode, onBytes)
      const discard = () => {
        files.delete(file)
        return begun.discard()
      }
      const file = { ...begun, discard }
      files.add(file)
      return file
    },
    check,
    close: async () => {
      clearInterval(sweeping)
      await Promise.all([...files].map(file => file.discard()))
    },
  }
}

/** That a disk takes nothing for now is Unavailable; all else stays what it is. */
export const toDiskFault = (error: unknown): unknown => {
  const { code = '', path = 'The disk' } = error as NodeJS.ErrnoException
  return TAKES_NOTHING.includes(code) ? cannotWrite(path, error) : error
}

/** The disk is full or read-only, the folder is another's, or too many files are open. */
const TAKES_NOTHING = ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE']

const cannotWrite = (path: string, cause: unknown) =>
  new Unavailable(`${path} cannot be written (${(cause as Error).message})`, { cause })

const sweep = async (folder: string) => {
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const found = await stat(path).catch(absent)
    if (found?.isFile() && found.mtimeMs < Date.now() - ABANDONED_MS) await unlink(path).catch(absent)
  }
}

const begin = async (path: string, mode?: number, onBytes?: (bytes: Buffer) => void): Promise<ArrivingFile> => {
  const file = await open(path, 'wx+', mode).catch(error => {
    throw toDiskFault(error)
  })
  const body = new Writable({
    write: (bytes: Buffer, _encoding, done) => {
      onBytes?.(bytes)
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
      // A write that is under way is waited for.
      await file.close().catch(() => undefined)
      await unlink(path).catch(() => undefined)
    },
  }
}

/** For what may have gone meanwhile. */
export const absent = (error: NodeJS.ErrnoException) => {
  if (error.code === 'ENOENT') return undefined
  throw error
}
