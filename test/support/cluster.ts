import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type End, Member } from './cluster-member.ts'
import { needsS3, startRadosgw } from './radosgw.ts'
import { needsRedis, type RedisServer, startRedis } from './redis-server.ts'

/** A whole cluster on this machine: the three stores, and services that meet in them. */
export interface Cluster {
  /** Variables that lead to the same stores. */
  env: Record<string, string>
  /** The services. Each can be killed and started again. */
  members: Member[]
  /** The server of the views, unless it was here before. */
  redis: RedisServer | undefined
  /** Where the members keep their files and logs, until the cluster is stopped. */
  folder: string
  /** Stops the services, then the stores that were started for them, and removes the folder. Resolves to how the services ended. */
  stop(): Promise<End[]>
}

export interface ClusterOptions {
  /** How many services; three unless it is said, and none where only the stores are wanted. */
  size?: number
  /** What each of them does, in turn; those that are left do everything. */
  roles?: string[]
  /** What each listens on, in turn; those that are left take any free port, and another one when they start again. */
  ports?: number[]
  /** The environment of all services. A store that it names is used as it is, and is not started. */
  env?: Record<string, string | undefined>
  /** Called when a process ends without having been told to. */
  onEnd?: (member: Member, end: End) => void
  /** Ends the start. */
  signal?: AbortSignal
}

/** A service stops by itself within 10 s, or something is wrong with it. */
const STOP_MS = 15_000

/** What a test that starts a cluster takes as its options. */
export const needsCluster = (): { skip: string | false } => ({ skip: needsS3().skip || needsRedis().skip })

/** Starts stores and services, and resolves when all of them listen. Whoever starts it stops it. */
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

/** Starts those stores that the environment does not name. */
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
      },
      ...{ redis, stop },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Lets a service end as it should, and sees to it that it does. */
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
