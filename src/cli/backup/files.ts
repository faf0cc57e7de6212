import { createHash } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { copyFile, mkdir, open, readdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import pLimit from 'p-limit'
import { syncFolder } from '../../adapters/sync-folder.ts'

/** Files that are handled at the same time. Most are small, so that opening and syncing them takes the time. */
const AT_ONCE = 8

const inParallel = <Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> => {
  const limit = pLimit(AT_ONCE)
  return Promise.all(items.map(item => limit(() => work(item))))
}

/** The files in a folder and below it, as paths relative to the folder. None if there is no folder. */
export const filesIn = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(absent)
  return (entries ?? [])
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .sort()
}

/** The files of a folder whose bytes or names changed after a time in ms since 1970. */
export const filesSince = async (folder: string, sinceMs: number): Promise<string[]> => {
  const paths = await filesIn(folder)
  const facts = await inParallel(paths, path => stat(join(folder, path)).catch(absent))
  return paths.filter((_, index) => (facts[index]?.ctimeMs ?? 0) >= sinceMs)
}

/**
 * Copies files from one folder to another. They are durable, and only their owner can read them. Skips a file that the
 * service deletes meanwhile.
 */
export const copyFiles = async (paths: readonly string[], from: string, to: string): Promise<void> => {
  const folders = new Set(paths.map(path => dirname(join(to, path))))
  for (const folder of folders) await mkdir(folder, { recursive: true })
  await inParallel(paths, async path => {
    const copy = join(to, path)
    const isCopied = await copyFile(join(from, path), copy, constants.COPYFILE_FICLONE).then(() => true, absent)
    if (isCopied) await inFile(copy, 'r+', file => file.chmod(0o600))
  })
  for (const folder of folders) await syncFolder(folder)
}

/** Writes a file that is durable, and that only its owner can read. */
export const writeDurably = (path: string, text: string | AsyncIterable<string>): Promise<void> =>
  inFile(path, 'w', file => writeFile(file, text))

const inFile = async (path: string, flags: string, work: (file: Awaited<ReturnType<typeof open>>) => Promise<void>) => {
  const file = await open(path, flags, 0o600)
  try {
    await work(file)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** The SHA-256 of files in hex, in their order; undefined for a file that is missing. */
export const digestsOf = (folder: string, paths: readonly string[]): Promise<(string | undefined)[]> =>
  inParallel(paths, async path => {
    const hash = createHash('sha256')
    try {
      for await (const chunk of createReadStream(join(folder, path))) hash.update(chunk)
    } catch (error) {
      return absent(error as NodeJS.ErrnoException)
    }
    return hash.digest('hex')
  })

const absent = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error
}
