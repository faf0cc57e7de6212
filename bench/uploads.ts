import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Benchmark } from './support/compare.ts'
import { withFolder } from './support/folder.ts'
import { putLoad } from './support/load.ts'
import { type Server, startBare, startTollgate } from './support/servers.ts'

const FILE_MB = 5
const BOUNDARY = 'a-boundary-as-browsers-make-them'

/** A form with one file: the start and end of a PNG with random bytes in between. */
const form = (): Buffer => {
  const header = Buffer.from(
    '89504e470d0a1a0a 0000000d49484452 00000400000004000802000000f07fbcd4 004c4b0049444154'.replaceAll(' ', ''),
    'hex',
  )
  const end = Buffer.from('0000000049454e44ae426082', 'hex')
  const disposition = 'Content-Disposition: form-data; name="file"; filename="picture.png"'
  return Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\n${disposition}\r\nContent-Type: image/png\r\n\r\n`),
    header,
    randomBytes(FILE_MB * 1_000_000 - header.length - end.length),
    end,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ])
}

export const uploads: Benchmark = {
  name: 'uploads',
  question: `uploads of ${FILE_MB} MB through the service, 8 connections`,
  baseline: 'bare Koa piping the same body to a file, with fsync',
  unit: 'MB/s',
  goal: { atLeast: 0.5 },
  prepare: async () => {
    const { folder, discard } = await withFolder()
    const path = join(folder, 'form')
    await writeFile(path, form())
    const bare = await startBare()
    const tollgate = await startTollgate({ accounts: 8, profile: 'uploads' })
    const upload = async ({ pid, url, keys }: Server) => {
      const file = { path, type: `multipart/form-data; boundary=${BOUNDARY}` }
      const load = { pid, url: `${url}/v1/uploads`, keys, method: 'POST', connections: 8, file } as const
      const { value, ...cpu } = await putLoad(load)
      return { value: FILE_MB * value, ...cpu }
    }
    return {
      baseline: () => upload(bare),
      measured: () => upload(tollgate),
      close: async () => {
        await bare.stop()
        await tollgate.stop()
        await discard()
      },
    }
  },
}
