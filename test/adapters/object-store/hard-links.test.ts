import { generateKeyPairSync } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { needsPrograms } from '../../support/needs.ts'
import { toRun } from '../../support/program.ts'
import { ProgramProcess } from '../../support/service-process.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const needsStrace = needsPrograms('strace')

/** Starts the service on a file system that refuses hard links. */
const start = async (folder: string, code: string, env: Record<string, string> = {}) => {
  const traced = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=link,linkat']
  const fail = ['-e', `inject=link,linkat:error=${code}`]
  const program = [...traced, ...fail, ...toRun('src/main.ts')]
  return new ProgramProcess(program, { DATA_DIR: join(folder, 'data'), PORT: '0', ...env }).ended
}

t.test('without hard links, the service does not start, and says what to do', needsStrace, async t => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const secrets = {
    MASTER_SECRET: 'a master secret of 32 characters',
    SEAL_KEY: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  }
  const ofKeys = /master-secret'\. Set DATA_DIR to a folder on a file system with hard links\./
  const ofFiles = /arriving is on a file system without hard links \(E\w+: .+\); set OBJECT_STORE_URL or DATA_DIR to/
  for (const [code, env, message] of [
    ['EPERM', {}, ofKeys],
    ['EOPNOTSUPP', secrets, ofFiles],
  ] as const) {
    const folder = await temporaryFolder(t)
    const { code: status, stdout, stderr } = await start(folder, code, env)
    t.equal(status, 1)
    t.match(stdout + stderr, message)
    t.notMatch(stdout + stderr, /\n +at /)
    t.notMatch(stdout, /listening/)
    t.same(await readdir(join(folder, 'data', 'objects', 'arriving')).catch(() => []), [])
  }
})
