import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import Table from 'cli-table3'
import type { Order, Seen } from './support/event-store-members-process.ts'
import { withFolder } from './support/folder.ts'
import { startProcess, stopProcess } from './support/processes.ts'
import { type Asked, askThroughout } from './support/run-askers.ts'
import { startTollgate } from './support/servers.ts'

/** What became of a service while its servers changed their leader. All times in seconds. */
export interface LeaderChange {
  name: string
  /** From the end of the election, or the return of a single server, to the first run that was acknowledged afterwards. */
  firstRun: number
  /** The same until every account had one. */
  everyAccount: number
  /** The longest time without an acknowledged run, from the change to the end. */
  longestPause: number
  longestRequest: number
  answers: number
  /** Answers with 202 to runs that their provider ends at once, with 500, with 503, and those that are none to expect. */
  unfinished: number
  broken: number
  putOff: number
  others: number
}

interface Scenario {
  name: string
  members?: 'single'
  /** What is added to the address. */
  url?: string
  change(order: (order: Order) => Promise<Seen>): Promise<void>
}

/** As long as real servers took, from the loss of a leader to the choice of the next. */
const ELECTION_MS = 5000

/** Long after the others have chosen another leader, as a machine hangs whose disk or host does. */
const HANGS_MS = 20_000

/** How long a server takes that is started anew after it was killed. */
const RESTART_MS = 1300

/** How long the load goes on before the change and after it. */
const BEFORE_MS = 2000
const AFTER_MS = 10_000

/** How often the cluster is looked at while something is waited for. */
const LOOK_MS = 50

const ACCOUNTS = 20

const scenarios: Scenario[] = [
  { name: 'the leader hangs for good', change: async order => elected(order, await order('hang')) },
  {
    name: 'the leader hangs, and comes back deposed after 20 s',
    change: async order => {
      await order('hang')
      await delay(HANGS_MS)
      await order('resume')
      while (!(await order('look')).isDown) await delay(LOOK_MS)
      await order('start')
    },
  },
  {
    name: 'the leader hangs for good, keepAlive 1000/1000',
    url: '&keepAliveInterval=1000&keepAliveTimeout=1000',
    change: async order => elected(order, await order('hang')),
  },
  { name: 'the leader is killed', change: async order => elected(order, await order('kill')) },
  {
    name: 'the leader resigns',
    change: async order => {
      await order('resign')
    },
  },
  {
    name: 'a single server is killed, and back after 1.3 s',
    members: 'single',
    change: async order => {
      await order('kill')
      await delay(RESTART_MS)
      await order('start')
    },
  },
]

/** How long runs stand still when the servers of the log change their leader, and what clients see of it. */
export const measureLeaderChanges = async (): Promise<LeaderChange[]> => {
  const measured: LeaderChange[] = []
  for (const scenario of scenarios) measured.push(await measure(scenario))
  return measured
}

export const showLeaderChanges = (changes: LeaderChange[]) => {
  const seconds = (number: number) => `${number.toFixed(1)} s`
  const times = ['first run', 'all accounts', 'longest pause', 'longest request']
  const table = new Table({
    head: ['event-store-leader', ...times, '202', '500', '503', 'others'],
    style: { head: [], border: [], compact: true },
  })
  for (const { name, firstRun, everyAccount, longestPause, longestRequest, ...answers } of changes)
    table.push([
      name,
      ...[firstRun, everyAccount, longestPause, longestRequest].map(seconds),
      ...[answers.unfinished, answers.broken, answers.putOff, `${answers.others} of ${answers.answers}`],
    ])
  console.log(table.toString())
}

const measure = async ({ name, members, url = '', change }: Scenario): Promise<LeaderChange> => {
  const { folder, discard } = await withFolder()
  const { child, ready } = await startProcess<{ url: string }>('event-store-members-process.js', {
    args: [folder, String(ELECTION_MS), members ?? 'cluster'],
  })
  const order = async (wanted: Order): Promise<Seen> => {
    const answered = once(child, 'message')
    child.send(wanted)
    return (await answered)[0]
  }
  const env = { EVENT_STORE_URL: ready.url + url, MASTER_SECRET: 'b'.repeat(64) }
  const tollgate = await startTollgate({ accounts: ACCOUNTS, env })
  const asking = askThroughout(tollgate)
  await delay(BEFORE_MS)
  const changedAtMs = Date.now()
  await change(order)
  await delay(AFTER_MS)
  const asked = await asking.end()
  const { electedAtMs } = await order('look')
  await tollgate.stop()
  await stopProcess(child)
  await discard()
  return { name, ...judge(asked, { changedAtMs, electedAtMs }) }
}

const judge = (asked: Asked[], { changedAtMs, electedAtMs }: { changedAtMs: number; electedAtMs: number }) => {
  const acknowledged = asked
    .filter(({ kind, status }) => kind === 'run' && (status === 200 || status === 202))
    .sort((a, b) => a.answeredAtMs - b.answeredAtMs)
  const after = acknowledged.filter(({ answeredAtMs }) => answeredAtMs > electedAtMs)
  const firstOf = new Map(after.toReversed().map(({ account, answeredAtMs }) => [account, answeredAtMs]))
  const ends = [changedAtMs, ...acknowledged.map(({ answeredAtMs }) => answeredAtMs)].filter(at => at >= changedAtMs)
  const countOf = (matches: (status: number) => boolean) => asked.filter(({ status }) => matches(status)).length
  return {
    firstRun: ((after[0]?.answeredAtMs ?? Number.NaN) - electedAtMs) / 1000,
    everyAccount: firstOf.size < ACCOUNTS ? Number.NaN : (Math.max(...firstOf.values()) - electedAtMs) / 1000,
    longestPause: Math.max(...ends.slice(1).map((at, index) => at - Number(ends[index]))) / 1000,
    longestRequest: Math.max(...asked.map(({ sentAtMs, answeredAtMs }) => answeredAtMs - sentAtMs)) / 1000,
    answers: asked.length,
    unfinished: countOf(status => status === 202),
    broken: countOf(status => status === 500),
    putOff: countOf(status => status === 503),
    others: countOf(status => ![200, 202, 500, 503].includes(status)),
  }
}

/** Resolves when another was elected than the one that led before. */
const elected = async (order: (order: Order) => Promise<Seen>, before: Seen) => {
  while ((await order('look')).electedAtMs === before.electedAtMs) await delay(LOOK_MS)
}
