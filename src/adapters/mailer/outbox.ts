import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import type { Mailer, Sender } from '../../ports/mailer.ts'
import { fieldsOf } from './fields.ts'

/** Messages to keep. The outbox is for trying out the service, and codes expire after minutes. */
const MAX_KEPT = 1_000

interface OutboxOptions {
  folder: string
  from: Sender
  maxKept?: number
}

/** Writes each message to a file that only its owner can read. The names sort by time. */
export const openOutbox = ({ folder, from, maxKept = MAX_KEPT }: OutboxOptions): Mailer => {
  const transport = createTransport({ streamTransport: true, buffer: true })
  return {
    folder,
    send: async message => {
      const { message: bytes } = await transport.sendMail(fieldsOf(from, message))
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const name = `${new Date().toISOString().replaceAll(':', '-')}-${randomUUID()}`
      const incomplete = join(folder, `${name}.part`)
      await writeFile(incomplete, bytes as Buffer, { mode: 0o600, flush: true })
      // Readers see the file only when it is complete.
      await rename(incomplete, join(folder, `${name}.eml`))
      await removeOldest(folder, maxKept)
    },
    close: () => transport.close(),
  }
}

/** Also removes incomplete files of a process that died. */
const removeOldest = async (folder: string, maxKept: number) => {
  const names = (await readdir(folder)).filter(name => /\.(eml|part)$/.test(name)).sort()
  for (const name of names.slice(0, Math.max(0, names.length - maxKept))) await rm(join(folder, name), { force: true })
}
