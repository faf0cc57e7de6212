import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { withFolder } from './folder.ts'

export interface Postgres {
  url: string
  stop(): Promise<void>
}

/** Where Debian's packages put the programs of each version. */
const VERSIONS = '/usr/lib/postgresql'

const programs = (): string | undefined => {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS) : []
  return versions.map(version => join(VERSIONS, version, 'bin')).findLast(bin => existsSync(join(bin, 'initdb')))
}

/** How to install PostgreSQL, if it is missing. */
export const missingPostgres = (): string | undefined =>
  programs() ? undefined : 'PostgreSQL is not installed: apt-get install postgresql'

/**
 * Starts PostgreSQL with an empty cluster and its default settings in a temporary folder, where only this machine's
 * users can reach it. It refuses to run as root, who becomes the user that the package creates.
 */
export const startPostgres = async (): Promise<Postgres> => {
  const bin = programs() ?? ''
  const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {}
  const { folder, discard } = await withFolder()
  const data = join(folder, 'data')
  await mkdir(data)
  if (user.uid !== undefined) for (const path of [folder, data]) await chown(path, user.uid, user.gid)
  const control = ['-D', data, '-w', '-l', join(folder, 'log'), '-o', `-k ${folder} -c listen_addresses=`]
  const options = { ...user, cwd: folder }
  const run = (program: string, args: string[]) => promisify(execFile)(join(bin, program), args, options)
  const stopNow = () => execFileSync(join(bin, 'pg_ctl'), ['-D', data, '-w', '-m', 'immediate', 'stop'], options)
  await run('initdb', ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync'])
  // The benchmark may fail while it runs.
  process.once('exit', stopNow)
  await run('pg_ctl', [...control, 'start'])
  return {
    url: `postgresql://postgres@localhost/dbos?host=${encodeURIComponent(folder)}`,
    stop: async () => {
      process.off('exit', stopNow)
      await run('pg_ctl', ['-D', data, '-w', '-m', 'fast', 'stop'])
      await discard()
    },
  }
}

const idOf = (kind: '-u' | '-g') => Number(execFileSync('id', [kind, 'postgres'], { encoding: 'utf8' }))
