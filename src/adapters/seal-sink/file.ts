import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Damaged, Unavailable } from '../../ports/faults.ts'
import { placeIn, type SealCopy, type SealPlace, type SealSink } from '../../ports/seal-sink.ts'
import { syncFolder } from '../sync-folder.ts'

/** More than a single append writes, so the end of the file contains everything that a crash can leave incomplete. */
const END_BYTES = 1024 * 1024

/** Only the user of the service may read or change it. */
const OWNER_ONLY = 0o600

/** The end of a file of seals. */
interface End {
  last: SealPlace | undefined
  /** The start of a line that a crash cut off. */
  torn: string
  /** The end of the text. After it, a crash of the machine may have left bytes that were never written. */
  textBytes: number
  sizeBytes: number
}

/**
 * A file with one seal per line, which only grows. It is opened for each append, so the disk may come and go, and the
 * file may be moved away.
 */
export const openFileSealSink = (path: string): SealSink => {
  const withFile = async <Result>(use: (file: FileHandle) => Promise<Result>): Promise<Result> => {
    let file: FileHandle | undefined
    try {
      // Append mode, so that no bug here can overwrite a line.
      file = await open(path, 'a+', OWNER_ONLY)
      return await use(file)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      throw code === undefined ? error : new Unavailable(message, { cause: error })
    } finally {
      await file?.close()
    }
  }

  return {
    name: path,
    last: () =>
      withFile(async file => {
        const { last, sizeBytes } = await readEnd(file, path)
        if (sizeBytes === 0) await syncFolder(dirname(path))
        return last
      }),
    append: (seals, last) =>
      withFile(async file => {
        const end = await readEnd(file, path)
        if (end.last?.link !== last?.link)
          throw new Unavailable(`${path} was changed by another program; give each process its own file`)
        const text = seals.map(seal => `${seal.text}\n`).join('')
        if (!text.startsWith(end.torn)) throw tornElsewhere(path, seals)
        if (end.textBytes < end.sizeBytes) await file.truncate(end.textBytes)
        await file.appendFile(text.slice(end.torn.length))
        await file.datasync()
      }),
    close: async () => undefined,
  }
}

const readEnd = async (file: FileHandle, path: string): Promise<End> => {
  const { size: sizeBytes } = await file.stat()
  const startBytes = Math.max(0, sizeBytes - END_BYTES)
  const bytes = Buffer.alloc(sizeBytes - startBytes)
  const { bytesRead } = await file.read(bytes, 0, bytes.length, startBytes)
  // Lines of JSON have no zero bytes.
  const [written = ''] = bytes.toString('latin1', 0, bytesRead).split('\0', 1)
  const lines = written.split('\n')
  const torn = lines.pop() ?? ''
  const line = lines.at(-1)
  const last = line === undefined ? undefined : placeIn(line)
  if (!last && (line !== undefined || startBytes > 0))
    throw new Damaged(`${path} does not end with a seal; name another file in SEAL_SINK`)
  return { last, torn, textBytes: startBytes + written.length, sizeBytes }
}

const tornElsewhere = (path: string, [next]: SealCopy[]) =>
  new Damaged(`${path} ends with an incomplete line that does not begin seal ${next?.number}; remove that line`)
