import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import Table from 'cli-table3'
import { newSealKeyPem } from '../test/support/seal-key-pem.ts'
import { type RequestRecord, sendContinuously } from './support/continuous-requests.ts'
import type { ClusterStatus, Command } from './support/event-store-members-process.ts'
import { withFolder } from './support/folder.ts'
import { startProcess, stopProcess } from './support/processes.ts'
import { startTollgate } from './support/servers.ts'

/** How a service behaved during a change of leader. All times in seconds. */
export interface LeaderChange {
  name: string
  /** From the end of the election, or the return of a single server, to the next acknowledged run. */
  firstRun: number
  /** The same until every account had an acknowledged run. */
  everyAccount: number
  /** The longest time without an acknowledged run, from the change to the end. */
  longestPause: number
  longestRequest: number
  answers: number
  /** Responses with 202, although the provider is instant. */
  unfinished: number
  /** Responses with 500. */
  failed: number
  /** Responses with 503. */
  unavailable: number
  /** Responses with any other status except 200. */
  unexpected: number
}

interface Scenario {
  name: string
  members?: 'single'
  /** Appended to the address. */
  url?: string
  change(send: (send: Command) => Promise<ClusterStatus>): Promise<void>
}

/** The duration of elections on real servers. */
const ELECTION_MS = 5000

/** Much longer than an election, as when a disk or host hangs. */
const HANG_MS = 20_000

/** How long a killed server takes to restart. */
const RESTART_MS = 1300

/** How long the load lasts before and after the change. */
const BEFORE_MS = 2000
const AFTER_MS = 10_000

/** How often to poll the cluster's status. */
const POLL_MS = 50

const ACCOUNTS = 20

const scenarios: Scenario[] = [
  { name: 'the leader hangs for good', change: async send => elected(send, await send('hang')) },
  {
    name: 'the leader hangs, and returns deposed after 20 s',
    change: async send => {
      await send('hang')
      await delay(HANG_MS)
      await send('resume')
      while (!(await send('status')).isDown) await delay(POLL_MS)
      await send('start')
    },
  },
  {
    name: 'the leader hangs for good, with keep-alives of 1 s',
    url: '&keepAliveInterval=1000&keepAliveTimeout=1000',
    change: async send => elected(send, await send('hang')),
  },
  { name: 'the leader is killed', change: async send => elected(send, await send('kill')) },
  {
    name: 'the leader resigns',
    change: async send => {
      await send('resign')
    },
  },
  {
    name: 'a single server is killed, and returns after 1.3 s',
    members: 'single',
    change: async send => {
      await send('kill')
      await delay(RESTART_MS)
      await send('start')
    },
  },
]

/** Measures how long runs stall when EventStoreDB changes its leader, and what clients see of it. */
export const measureLeaderChanges = async (): Promise<LeaderChange[]> => {
  const measured: LeaderChange[] = []
  for (const scenario of scenarios) measured.push(await measure(scenario))
  return measured
}

export const showLeaderChanges = (changes: LeaderChange[]) => {
  const seconds = (number: number) => `${number.toFixed(1)} s`
  const times = ['first run', 'all accounts', 'longest pause', 'longest request']
  const table = new Table({
    head: ['event-store-leader', ...times, '202', '500', '503', 'unexpected'],
    style: { head: [], border: [], compact: true },
  })
  for (const { name, firstRun, everyAccount, longestPause, longestRequest, ...answers } of changes)
    table.push([
      name,
      ...[firstRun, everyAccount, longestPause, longestRequest].map(seconds),
      ...[answers.unfinished, answers.failed, answers.unavailable, `${answers.unexpected} of ${answers.answers}`],
    ])
  console.log(table.toString())
}

const measure = async ({ name, members, url = '', change }: Scenario): Promise<LeaderChange> => {
  const { folder, discard } = await withFolder()
  const { child, ready } = await startProcess<{ url: string }>('event-store-members-process.js', {
    args: [folder, String(ELECTION_MS), members ?? 'cluster'],
  })
  const send = async (command: Command): Promise<ClusterStatus> => {
    const reply = once(child, 'message')
    child.send(command)
    return (await reply)[0]
  }
  const env = { EVENT_STORE_URL: ready.url + url, MASTER_SECRET: 'b'.repeat(64), SEAL_KEY: newSealKeyPem() }
  const tollgate = await startTollgate({ accounts: ACCOUNTS, env })
  const load = sendContinuously(tollgate)
  await delay(BEFORE_MS)
  const changedAtMs = Date.now()
  await change(send)
  await delay(AFTER_MS)
  const requests = await load.end()
  const { electedAtMs } = await send('status')
  await tollgate.stop()
  await stopProcess(child)
  await discard()
  return { name, ...summarise(requests, { changedAtMs, electedAtMs }) }
}

const summarise = (
  requests: RequestRecord[],
  { changedAtMs, electedAtMs }: { changedAtMs: number; electedAtMs: number },
) => {
  const acknowledged = requests
    .filter(({ kind, status }) => kind === 'run' && (status === 200 || status === 202))
    .sort((a, b) => a.answeredAtMs - b.answeredAtMs)
  const after = acknowledged.filter(({ answeredAtMs }) => answeredAtMs > electedAtMs)
  const firstOf = new Map(after.toReversed().map(({ account, answeredAtMs }) => [account, answeredAtMs]))
  const ends = [changedAtMs, ...acknowledged.map(({ answeredAtMs }) => answeredAtMs)].filter(at => at >= changedAtMs)
  const countOf = (matches: (status: number) => boolean) => requests.filter(({ status }) => matches(status)).length
  return {
    firstRun: ((after[0]?.answeredAtMs ?? Number.NaN) - electedAtMs) / 1000,
    everyAccount: firstOf.size < ACCOUNTS ? Number.NaN : (Math.max(...firstOf.values()) - electedAtMs) / 1000,
    longestPause: Math.max(...ends.slice(1).map((at, index) => at - Number(ends[index]))) / 1000,
    longestRequest: Math.max(...requests.map(({ sentAtMs, answeredAtMs }) => answeredAtMs - sentAtMs)) / 1000,
    answers: requests.length,
    unfinished: countOf(status => status === 202),
    failed: countOf(status => status === 500),
    unavailable: countOf(status => status === 503),
    unexpected: countOf(status => ![200, 202, 500, 503].includes(status)),
  }
}

/** Resolves when a new leader is elected. */
const elected = async (send: (send: Command) => Promise<ClusterStatus>, before: ClusterStatus) => {
  while ((await send('status')).electedAtMs === before.electedAtMs) await delay(POLL_MS)
}
