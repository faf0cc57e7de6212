import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type End, Member } from './cluster-member.ts'
import type { Needs } from './needs.ts'
import { needsS3, startRadosgw } from './radosgw.ts'
import { needsRedis, type RedisServer, startRedis } from './redis-server.ts'
import { newSealKeyPem } from './seal-key-pem.ts'

/** A cluster on this machine: the three stores, and services that share them. */
export interface Cluster {
  /** Environment variables with the addresses of the stores. */
  env: Record<string, string>
  /** The services. Each can be killed and restarted. */
  members: Member[]
  /** The Redis server, if it was started for this cluster. */
  redis: RedisServer | undefined
  /** The folder for files and logs until the cluster stops. */
  folder: string
  /**
   * Stops the services and the stores started for them, and removes the folder. Resolves to how the services exited.
   */
  stop(): Promise<End[]>
}

export interface ClusterOptions {
  /** The number of services; three by default, none for the stores alone. */
  size?: number
  /** The roles of each service, in order; all roles for the rest. */
  roles?: string[]
  /** The port of each service, in order; the rest use a free port, which changes with each start. */
  ports?: number[]
  /** The environment of all services. Stores in it are used instead of started. */
  env?: Record<string, string | undefined>
  /** Called if a process exits unexpectedly. */
  onEnd?: (member: Member, end: End) => void
  /** Aborts the start. */
  signal?: AbortSignal
}

/** A healthy service stops within 10 s. */
const STOP_MS = 15_000

/** The tap options of tests that start a cluster. */
export const needsCluster = (): Needs => ({ skip: needsS3().skip || needsRedis().skip })

/** Starts stores and services, and resolves when all of them listen. The caller must stop it. */
export const startCluster = async (options: ClusterOptions = {}): Promise<Cluster> => {
  const { size = 3, roles = [], ports = [], env = {}, onEnd, signal } = options
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-cluster-'))
  const members: Member[] = []
  let stores: Stores | undefined
  let stopped: Promise<End[]> | undefined
  const stop = () => {
    stopped ??= (async () => {
      const ends = await Promise.all(members.map(stopMember))
      await stores?.stop()
      await rm(folder, { recursive: true, force: true })
      return ends
    })()
    return stopped
  }
  try {
    stores = await startStores(env, folder, onEnd)
    signal?.throwIfAborted()
    for (let index = 0; index < size; index++) {
      const port = ports[index]
      members.push(
        new Member({
          name: `process ${index + 1}`,
          script: 'src/main.ts',
          url: port === undefined ? undefined : `http://localhost:${port}`,
          env: {
            ...env,
            ...stores.env,
            PORT: String(port ?? 0),
            ROLES: roles[index] ?? '',
            DATA_DIR: join(folder, `process-${index + 1}`),
          },
          ...{ folder, onEnd },
        }),
      )
    }
    const giveUp = () => members.map(member => member.end('SIGKILL'))
    signal?.addEventListener('abort', giveUp)
    await Promise.all(members.map(member => member.start()))
    signal?.removeEventListener('abort', giveUp)
    signal?.throwIfAborted()
    return { env: stores.env, members, redis: stores.redis, folder, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

interface Stores {
  env: Record<string, string>
  redis: RedisServer | undefined
  stop(): Promise<unknown>
}

/** Starts the stores that the environment does not name. */
const startStores = async (
  env: Record<string, string | undefined>,
  folder: string,
  onEnd: ClusterOptions['onEnd'],
): Promise<Stores> => {
  const log = new Member({
    ...{ name: 'event store', script: 'test/support/event-store/process.ts', env: {}, folder, onEnd },
    args: [join(folder, 'log')],
  })
  const starting = [
    env['EVENT_STORE_URL'] ? undefined : log.start(),
    env['VIEW_STORE_URL'] ? undefined : startRedis(),
    env['OBJECT_STORE_URL'] ? undefined : startRadosgw(),
  ] as const
  const stop = async () => {
    const [, redis, s3] = await Promise.allSettled(starting)
    const servers = [redis, s3].map(server => server.status === 'fulfilled' && server.value?.stop())
    await Promise.all([...servers, log.end('SIGKILL')])
  }
  try {
    const failures = (await Promise.allSettled(starting)).flatMap(each =>
      each.status === 'rejected' ? each.reason : [],
    )
    if (failures.length > 0) throw new Error(failures.map(({ message }) => message).join('\n'))
    const [, redis, s3] = await Promise.all(starting)
    return {
      env: {
        EVENT_STORE_URL: env['EVENT_STORE_URL'] || log.url,
        VIEW_STORE_URL: env['VIEW_STORE_URL'] || String(redis?.url),
        VIEW_KEY_SPACE: env['VIEW_KEY_SPACE'] || 'tollgate',
        OBJECT_STORE_URL: env['OBJECT_STORE_URL'] || String(s3?.url(await s3.createBucket())),
        MASTER_SECRET: env['MASTER_SECRET'] || randomBytes(32).toString('hex'),
        ...(env['SEAL_KEY_FILE'] ? {} : { SEAL_KEY: env['SEAL_KEY'] || newSealKeyPem() }),
      },
      ...{ redis, stop },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Stops a service gracefully, or kills it after a timeout. */
const stopMember = async (member: Member): Promise<End> => {
  const given = new AbortController()
  sleep(STOP_MS, undefined, { signal: given.signal }).then(
    () => member.end('SIGKILL'),
    () => undefined,
  )
  const end = await member.end('SIGTERM')
  given.abort()
  return end
}
