import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ROLES } from '../../schemas/environment.ts'
import { type Cluster, startCluster } from './cluster.ts'
import type { End, Member } from './cluster-member.ts'
import { freePorts } from './server-program.ts'

// Runs a cluster until Ctrl-C. The arguments are the number of processes and the roles of each:
//   npm run cluster -- 3 api api projector,reactors

/** How long the first start may take to open the first account. */
const WELCOME_MS = 10_000

const main = async () => {
  const stop = new AbortController()
  const stopped = once(stop.signal, 'abort')
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stop.abort())
  try {
    const [given = process.env['CLUSTER_SIZE'] || '3', ...named] = process.argv.slice(2)
    const size = Number(given)
    if (!/^\d+$/.test(given) || named.length > size)
      throw new Error('Give the number of processes, then the roles of each, such as: 3 api api projector,reactors.')
    const roles = Array.from({ length: size }, (_, index) => named[index] ?? ROLES.join(','))
    console.log('Starting the stores and processes …')
    const cluster = await start(roles, stop.signal)
    console.log(describe(cluster, roles, await findKey(cluster)))
    await stopped
    console.log('\nStopping …')
    await cluster.stop()
  } catch (error) {
    if (stop.signal.aborted) return
    console.error((error as Error).message)
    process.exitCode = 1
  }
}

const start = async (roles: string[], signal: AbortSignal): Promise<Cluster> => {
  const { PORT, ...others } = process.env
  const first = Number(PORT)
  const ports = first ? roles.map((_, index) => first + index) : await freePorts('127.0.0.1', roles.length)
  // An upload's URL must be valid for all processes.
  const answering = ports[roles.findIndex(each => each.includes('api'))] ?? 0
  const env = { PUBLIC_URL: `http://localhost:${answering}`, ...others }
  return startCluster({ size: roles.length, roles, ports, env, onEnd: tellOfEnd, signal })
}

const tellOfEnd = ({ name, log }: Member, { code, signal, stderr }: End) => {
  console.log(`\n${name} exited unexpectedly (${signal ?? `status ${code}`}). Its log: ${log}\n${stderr}`)
}

/** The key that a process prints on the first start; undefined on later starts. */
const findKey = async ({ members }: Cluster): Promise<string | undefined> => {
  const untilMs = Date.now() + (process.env['EVENT_STORE_URL'] ? 0 : WELCOME_MS)
  do {
    for (const { log } of members) {
      const [key] = /\w+_sk_live_[0-9a-f]{32}/.exec(await readFile(log, 'utf8')) ?? []
      // The views of the other processes may lag behind.
      if (key && (await isKnown(key, members))) return key
    }
    await sleep(100)
  } while (members.length > 0 && Date.now() < untilMs)
  return undefined
}

/** Whether all api processes accept a key. */
const isKnown = async (key: string, members: Member[]): Promise<boolean> => {
  const headers = { Authorization: `Bearer ${key}` }
  const statuses = await Promise.all(
    members.map(async ({ url }) => (await fetch(`${url}/v1/balance`, { headers })).status),
  )
  // A process without the api role returns 404.
  return statuses.every(status => status === 200 || status === 404)
}

/** Instructions for the user. */
const describe = ({ env, members, redis, folder }: Cluster, roles: string[], key: string | undefined): string => {
  const { EVENT_STORE_URL = '', VIEW_STORE_URL = '', OBJECT_STORE_URL = '' } = env
  const { protocol, host, pathname } = new URL(OBJECT_STORE_URL)
  const processes = members.map(({ name, url, pid, log }, index) => [
    ...[name, url, `pid ${pid}`, roles[index] ?? '', basename(log)],
  ])
  const stores = [
    ['event log', process.env['EVENT_STORE_URL'] ? 'yours' : 'a stand-in for EventStoreDB', EVENT_STORE_URL],
    ['views', redis ? 'Redis' : 'yours', VIEW_STORE_URL],
    ['objects', process.env['OBJECT_STORE_URL'] ? 'yours' : 'radosgw', `${protocol}//${host}${pathname}`],
  ]
  const apiMember = members.find((_, index) => roles[index]?.includes('api'))
  const balance = `  curl -s ${apiMember?.url}/v1/balance -H 'Authorization: Bearer ${key}'`
  // Commands seal nothing.
  const { SEAL_KEY: _, ...shared } = env
  const exports = Object.entries(shared).map(([name, value]) => ` \\\n    ${name}='${value}'`)
  return [
    ...['', ...inColumns(processes), '', ...inColumns(stores), ''],
    ...[`  The logs of the processes are in ${folder}.`, ''],
    ...(apiMember ? [`  The URLs of files lead to ${process.env['PUBLIC_URL'] ?? apiMember.name}.`, ''] : []),
    ...(apiMember && key ? ['  An account is open. To see its balance:', '', balance, ''] : []),
    ...['  In another terminal, the command line on the same stores:', '', `  export${exports.join('')}`],
    ...['  npm run -s tollgate -- accounts open --email ada@example.com --credits 500', ''],
    '  Ctrl-C stops everything that was started here, and deletes its data.',
  ].join('\n')
}

const inColumns = (rows: string[][]): string[] => {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0))) ?? []
  return rows.map(row => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
}

await main()
