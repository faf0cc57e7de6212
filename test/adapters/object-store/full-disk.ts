import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import type { Test } from 'tap'
import { type Needs, skipUnlessCi } from '../../support/needs.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** Mounts in a namespace of its own, which some machines do not allow. */
const inNamespace = (script: string, folder: string, megabytes = 1): [command: string, args: string[]] => [
  'unshare',
  ['-rm', 'sh', '-c', `mount -t tmpfs -o size=${megabytes}m tmpfs "$0" && ${script}`, folder],
]

/** The tap options of tests that need a full disk. */
export const needsFullDisk = (): Needs => {
  const { status } = spawnSync(...inNamespace('true', tmpdir()))
  return skipUnlessCi(status !== 0 && 'this machine cannot create a small disk: unshare -rm and mount failed')
}

/** A folder on a small disk in memory, which is removed with its process. */
export const fullDisk = async (t: Test, megabytes?: number): Promise<string> => {
  const folder = await temporaryFolder(t)
  const child = spawn(...inNamespace('echo mounted && exec cat', folder, megabytes), {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close').catch(() => undefined)
  t.teardown(() => {
    child.kill('SIGKILL')
    return ended
  })
  const mounted = await Promise.race([once(child.stdout, 'data').catch(() => undefined), ended.then(() => undefined)])
  if (!mounted) throw new Error('the small disk could not be mounted')
  return `/proc/${child.pid}/root${folder}`
}
