import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { temporaryFolder } from './temporary-folder.ts'

/** A data folder with a copy of the log that an earlier version wrote in a ledger format. */
export const copyFixtureLog = async (t: Test, format: number): Promise<string> => {
  const folder = await temporaryFolder(t)
  await cp(`test/fixtures/format-${format}/log`, join(folder, 'log'), { recursive: true })
  return folder
}
