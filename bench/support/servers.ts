import { withFolder } from './folder.ts'
import { startProcess, stopProcess } from './processes.ts'

export interface Server {
  url: string
  keys: string[]
  pid: number
  stop(): Promise<void>
}

/** Starts the baseline server, with a temporary folder for uploads. */
export const startBare = async (): Promise<Server> => {
  const { folder, discard } = await withFolder()
  const { child, ready } = await startProcess<{ url: string; keys: string[] }>('bare-server.js', {
    args: [folder],
    ...(process.env['BENCH_PROFILE'] && { profile: 'bare' }),
  })
  const stop = async () => {
    await stopProcess(child)
    await discard()
  }
  return { ...ready, pid: child.pid as number, stop }
}

/** Starts the service in a temporary folder. It logs as in production, but the output is discarded. */
export const startTollgate = async ({
  accounts = 1,
  provider = 'instant',
  budget = false,
  env,
  profile,
}: {
  accounts?: number
  /** Does the runs: an instant provider, or those that the environment configures. */
  provider?: 'instant' | 'configured'
  /** Whether the keys have a budget. */
  budget?: boolean
  env?: Record<string, string>
  profile?: string
} = {}): Promise<Server> => {
  const { folder, discard } = await withFolder()
  const { child, ready } = await startProcess<{ url: string; keys: string[] }>('tollgate-server.js', {
    args: [String(accounts), provider, ...(budget ? ['budget'] : [])],
    env: { DATA_DIR: folder, PORT: '0', ...env },
    ...(process.env['BENCH_PROFILE'] && profile && { profile }),
  })
  const stop = async () => {
    await stopProcess(child)
    await discard()
  }
  return { ...ready, pid: child.pid as number, stop }
}
