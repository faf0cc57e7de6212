import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

/** A folder that is gone when the test is. Whatever is open in it must be closed by a teardown that is added later. */
export const temporaryFolder = async (t: Test): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}
