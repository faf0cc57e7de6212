import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

/**
 * A folder that is removed when the test ends. Add teardowns that close its files after this one, so that they run
 * first.
 */
export const temporaryFolder = async (t: Test): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}
