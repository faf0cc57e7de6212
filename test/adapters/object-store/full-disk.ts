import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/**
 * A folder on a disk of one megabyte, which is removed with its process; undefined if the machine does not allow it.
 */
export const fullDisk = async (t: Test): Promise<string | undefined> => {
  const folder = await temporaryFolder(t)
  const script = 'mount -t tmpfs -o size=1m tmpfs "$0" && echo mounted && exec cat'
  const child = spawn('unshare', ['-rm', 'sh', '-c', script, folder], { stdio: ['pipe', 'pipe', 'ignore'] })
  const ended = once(child, 'close').catch(() => undefined)
  t.teardown(() => {
    child.kill('SIGKILL')
    return ended
  })
  const mounted = await Promise.race([once(child.stdout, 'data').catch(() => undefined), ended.then(() => undefined)])
  return mounted && `/proc/${child.pid}/root${folder}`
}
