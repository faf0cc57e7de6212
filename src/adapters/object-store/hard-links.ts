import { randomUUID } from 'node:crypto'
import { link, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Unavailable } from '../../ports/faults.ts'

/** How file systems without hard links refuse one. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/** Rejects with Unavailable if files in a folder cannot have a second name. Leaves other faults to be found later. */
export const expectHardLinks = async (folder: string): Promise<void> => {
  const [one, other] = [join(folder, randomUUID()), join(folder, randomUUID())]
  try {
    await writeFile(one, '', { flag: 'wx' })
    await link(one, other)
  } catch (error) {
    const { code = '', syscall, message } = error as NodeJS.ErrnoException
    if (syscall !== 'link' || !NO_LINKS.includes(code)) return
    const remedy = 'set OBJECT_STORE_URL or DATA_DIR to a folder on another one'
    throw new Unavailable(`${folder} is on a file system without hard links (${message}); ${remedy}`, { cause: error })
  } finally {
    for (const name of [one, other]) await unlink(name).catch(() => undefined)
  }
}
