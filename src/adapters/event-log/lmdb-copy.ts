import { mkdir } from 'node:fs/promises'
import { Unavailable } from '../../ports/faults.ts'
import { closeLmdb, openLmdbReadOnly } from '../lmdb/environment.ts'
import { LOG_DATABASES } from './lmdb-stream-index.ts'

/**
 * Copies the log in an LMDB folder to another folder, as it is at this moment, while services write to it. The copy has
 * no free pages. Rejects with Unavailable if the disk is full.
 */
export const copyLmdbLog = async (from: string, to: string): Promise<void> => {
  await mkdir(to, { recursive: true })
  const root = openLmdbReadOnly(from, LOG_DATABASES)
  try {
    await root.backup(to, true)
  } catch (error) {
    throw new Unavailable(`${to} cannot be written (${(error as Error).message})`, { part: 'disk' })
  } finally {
    await closeLmdb(root)
  }
}
