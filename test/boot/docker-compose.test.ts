import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { readConfig } from '../../src/boot/read-config.ts'
import { needsPrograms } from '../support/needs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

interface Composed {
  services: Record<string, { environment: Record<string, string>; secrets?: { source: string }[] }>
  secrets: Record<string, { file: string }>
}

/** The configuration that Docker Compose resolves with these variables in `.env`. */
const compose = async (t: Test, variables = ''): Promise<Composed> => {
  const file = join(await temporaryFolder(t), '.env')
  await writeFile(file, variables)
  const env = { PATH: process.env['PATH'] }
  const { stdout } = await promisify(execFile)('docker-compose', ['--env-file', file, 'config'], { env })
  return parse(stdout)
}

t.test('docker-compose.yml is valid and configures the service', needsPrograms('docker-compose'), async t => {
  const { services, secrets } = await compose(t)
  t.same(Object.keys(services).sort(), ['bucket', 'eventstore', 'minio', 'redis', 'tollgate-1', 'tollgate-2'])
  for (const name of ['tollgate-1', 'tollgate-2'])
    t.match(readConfig(services[name]?.environment ?? {}), {
      eventStore: { kind: 'eventstoredb', address: { server: 'eventstore:2113' } },
      viewStore: { kind: 'redis', address: { host: 'redis' } },
      objectStore: { kind: 's3' },
      masterSecret: { kind: 'given', secret: /development/ },
      seals: { key: { kind: 'file', path: '/run/secrets/seal-key' } },
    })
  for (const name of ['tollgate-1', 'tollgate-2'])
    t.match(services[name]?.secrets, [{ source: 'seal-key' }], 'both seal with one key')
  t.match(secrets, { 'seal-key': { file: join(process.cwd(), 'seal-key.pem') } })
  t.match(await readFile('.gitignore', 'utf8'), /^seal-key\.pem$/m)
})

t.test('a given secret replaces the public development secret', needsPrograms('docker-compose'), async t => {
  const secret = 'a secret of 32 characters at least'
  const { services } = await compose(t, `MASTER_SECRET=${secret}`)
  for (const name of ['tollgate-1', 'tollgate-2']) t.equal(services[name]?.environment['MASTER_SECRET'], secret)
})
