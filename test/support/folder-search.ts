import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The files of a folder whose bytes have a text, such as `log/data.mdb: prompt`. */
export const filesWith = async (folder: string, ...texts: (string | Buffer)[]): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const found: string[] = []
  for (const entry of entries.filter(each => each.isFile())) {
    const path = join(entry.parentPath, entry.name)
    // A file may be deleted meanwhile.
    const bytes = await readFile(path).catch(() => Buffer.alloc(0))
    found.push(...texts.filter(text => bytes.includes(text)).map(text => `${path.slice(folder.length + 1)}: ${text}`))
  }
  return found.sort()
}
