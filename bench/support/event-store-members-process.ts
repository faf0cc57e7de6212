import { openLmdbEventLog } from '../../src/adapters/event-log/lmdb.ts'
import { startEventStoreCluster } from '../../test/support/event-store/cluster.ts'
import { startEventStoreServer } from '../../test/support/event-store/server.ts'

/** A command for this process. It always applies to the first member, which is the initial leader. */
export type Command = 'hang' | 'resume' | 'kill' | 'start' | 'resign' | 'status'

/** The reply to each command. Times are Unix time, which all processes share. */
export interface ClusterStatus {
  /** The end of the last election, or the return of a single server. */
  electedAtMs: number
  isDown: boolean
}

// The stand-in for EventStoreDB over the log in a folder: three members, or a single server.
const [folder, electionMs, members] = process.argv.slice(2) as [string, string, 'cluster' | 'single']
const log = openLmdbEventLog(folder, error => {
  throw error
})

const startCluster = async () => {
  const cluster = await startEventStoreCluster({ log, electionMs: Number(electionMs) })
  const commands: Record<Command, () => unknown> = {
    hang: () => cluster.hang(0),
    resume: () => cluster.resume(0),
    kill: () => cluster.kill(0),
    start: () => cluster.start(0),
    resign: () => cluster.resign(0),
    status: () => undefined,
  }
  const status = (): ClusterStatus => ({
    electedAtMs: performance.timeOrigin + cluster.electedAtMs,
    isDown: cluster.members[0]?.phase === 'down',
  })
  return { url: cluster.url, commands, status, close: async () => cluster.close() }
}

const startSingle = async () => {
  let server = await startEventStoreServer({ log })
  let [electedAtMs, isDown] = [Date.now(), false]
  const commands: Partial<Record<Command, () => unknown>> = {
    kill: async () => {
      isDown = true
      await server.close()
    },
    start: async () => {
      server = await startEventStoreServer({ log, port: server.port })
      ;[electedAtMs, isDown] = [Date.now(), false]
    },
    status: () => undefined,
  }
  return {
    url: server.url,
    commands,
    status: (): ClusterStatus => ({ electedAtMs, isDown }),
    close: () => server.close(),
  }
}

const { url, commands, status, close } = members === 'single' ? await startSingle() : await startCluster()
process.on('message', async (command: Command | 'stop') => {
  if (command !== 'stop') {
    await commands[command]?.()
    return process.send?.(status())
  }
  await close()
  await log.close()
  process.exit(0)
})
// Do not outlive a failed benchmark.
process.once('disconnect', () => process.exit(1))
process.send?.({ url })
