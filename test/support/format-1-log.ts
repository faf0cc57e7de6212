import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { temporaryFolder } from './temporary-folder.ts'

/** A data folder with a copy of the log that an early version wrote in ledger format 1. */
export const copyFormat1Log = async (t: Test): Promise<string> => {
  const folder = await temporaryFolder(t)
  await cp('test/fixtures/format-1/log', join(folder, 'log'), { recursive: true })
  return folder
}
