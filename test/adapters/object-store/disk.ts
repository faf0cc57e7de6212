import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { openDiskObjectStore } from '../../../src/adapters/object-store/disk.ts'
import { startPutServer } from '../../support/put-server.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

export const PNG = 'image/png'
export const KEY = `outputs/${'0'.repeat(32)}.png`

/** A store in a folder, with a server for its URLs. It may fill its disk. */
export const openFolder = async (t: Test, folder?: string, putSecret = 'a secret') => {
  const server = await startPutServer(t)
  const where = folder ?? (await temporaryFolder(t))
  const store = await openDiskObjectStore({ folder: where, putSecret, putUrl: () => server.url, reserveBytes: 0 })
  server.serve(store)
  return { store, server, folder: where, leftovers: () => readdir(join(where, 'arriving')) }
}
