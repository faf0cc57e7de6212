import { type ChildProcess, execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'minio'
import { type Needs, needsPrograms } from './needs.ts'
import { type ClusterPlace, clusterSettings } from './radosgw-settings.ts'
import { freePorts, isInstalled, killProgram, launchProgram, STEP_MS, untilAnswers } from './server-program.ts'

/** A real S3 server: Ceph's gateway, over a single-node cluster in memory. */
export interface S3Server {
  host: string
  port: number
  region: string
  accessKey: string
  secretKey: string
  /** The gateway process. */
  pid: number
  /** Creates a bucket, with a unique name by default, and returns its name. */
  createBucket(name?: string): Promise<string>
  /** A bucket's address for the configuration. */
  url(bucket: string): string
  stop(): Promise<void>
}

const HOST = '127.0.0.1'
const REGION = 'us-east-1'

const PROGRAMS = ['monmaptool', 'ceph-mon', 'ceph-osd', 'ceph', 'radosgw', 'radosgw-admin', 'setpriv']

/** The tap options of tests that need the server. */
export const needsS3 = (): Needs => needsPrograms(...PROGRAMS)

/** Starts an empty server, and retries once if a port was taken meanwhile. The caller must stop it. */
export const startRadosgw = async (): Promise<S3Server> => {
  const missing = PROGRAMS.filter(program => !isInstalled(program))
  if (missing.length > 0)
    throw new Error(`missing programs: ${missing.join(', ')}; install ceph-mon, ceph-osd and radosgw`)
  return tryStart().catch(tryStart)
}

const tryStart = async (): Promise<S3Server> => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-rgw-'))
  const running: ChildProcess[] = []
  const stop = async () => {
    await Promise.all(running.map(killProgram))
    await rm(folder, { recursive: true, force: true })
  }
  try {
    return await start(folder, running, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

const start = async (folder: string, running: ChildProcess[], stop: () => Promise<void>): Promise<S3Server> => {
  const [monPort, port] = await freePorts(HOST, 2)
  if (monPort === undefined || port === undefined) throw new Error('there are no free ports')
  const place: ClusterPlace = { folder, fsid: randomUUID(), monAddress: `v1:${HOST}:${monPort}`, host: HOST }
  const settings = join(folder, 'ceph.conf')
  await writeFile(settings, clusterSettings(place))
  const run = (program: string, args: string[], input?: string) => runProgram(program, ['-c', settings, ...args], input)
  const launch = async (program: string, args: string[]) => {
    const child = await launchProgram(program, ['-c', settings, '-f', ...args], join(folder, `${program}.log`))
    running.push(child)
    return child
  }

  const map = join(folder, 'monmap')
  await runProgram('monmaptool', ['--create', '--addv', 'a', `[${place.monAddress}]`, '--fsid', place.fsid, map])
  await run('ceph-mon', ['--mkfs', '-i', 'a', '--monmap', map])
  await launch('ceph-mon', ['-i', 'a'])

  const osdId = randomUUID()
  await mkdir(join(folder, 'osd'))
  await Promise.all([
    run('ceph', [], `osd new ${osdId}\nosd crush add osd.0 1.0 root=default host=h0\n`),
    run('ceph-osd', ['-i', '0', '--mkfs', '--osd-uuid', osdId]),
  ])
  await launch('ceph-osd', ['-i', '0'])

  const frontend = `beast endpoint=${HOST}:${port} tcp_nodelay=1`
  const gateway = await launch('radosgw', ['-n', 'client.rgw', '--rgw-frontends', frontend])
  await untilAnswers(gateway, join(folder, 'radosgw.log'), async () => {
    const answer = await fetch(`http://${HOST}:${port}`, { signal: AbortSignal.timeout(1000) }).catch(() => undefined)
    await answer?.body?.cancel()
    return answer !== undefined
  })

  const [accessKey, secretKey] = [randomBytes(10).toString('hex'), randomBytes(20).toString('hex')]
  const keys = ['--access-key', accessKey, '--secret-key', secretKey]
  await run('radosgw-admin', ['user', 'create', '--uid', 'tollgate', '--display-name', 'Tollgate', ...keys])

  const client = new Client({ endPoint: HOST, port, useSSL: false, region: REGION, accessKey, secretKey })
  return {
    ...{ host: HOST, port, region: REGION, accessKey, secretKey, pid: gateway.pid as number, stop },
    createBucket: async (name = `bucket-${randomBytes(8).toString('hex')}`) => {
      await client.makeBucket(name)
      return name
    },
    url: bucket => `s3://${accessKey}:${secretKey}@${HOST}:${port}/${bucket}?region=${REGION}&tls=off`,
  }
}

const runProgram = (program: string, args: string[], input = ''): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = execFile(program, args, { timeout: STEP_MS }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${program} failed: ${stderr || stdout || error.message}`, { cause: error }))
      else resolve()
    })
    // A program that needs no input may have exited already.
    child.stdin?.on('error', () => undefined).end(input)
  })
