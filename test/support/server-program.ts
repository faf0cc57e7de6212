import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

// Shared code for starting third-party servers.

/** Far longer than any step takes on a busy machine. */
export const STEP_MS = 20_000

export const isInstalled = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some(folder => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })

/** Distinct free ports. */
export const freePorts = async (host: string, count: number): Promise<number[]> => {
  const servers = Array.from({ length: count }, () => createServer().listen(0, host))
  await Promise.all(servers.map(server => once(server, 'listening')))
  const ports = servers.map(server => (server.address() as AddressInfo).port)
  await Promise.all(servers.map(server => once(server.close(), 'close')))
  return ports
}

/** Starts a program with output to a file. The kernel kills it when this process ends for any reason. */
export const launchProgram = async (program: string, args: string[], log: string): Promise<ChildProcess> => {
  const file = await open(log, 'a')
  try {
    return spawn('setpriv', ['--pdeathsig', 'KILL', '--', program, ...args], { stdio: ['ignore', file.fd, file.fd] })
  } finally {
    await file.close()
  }
}

/** Probes a program until it responds. Rejects with its last output if it exits or takes too long. */
export const untilAnswers = async (
  child: ChildProcess,
  log: string,
  isThere: () => Promise<boolean>,
): Promise<void> => {
  const until = Date.now() + STEP_MS
  while (Date.now() < until && !hasEnded(child)) {
    if (await isThere()) return
    await sleep(20)
  }
  throw new Error(`no response: ${(await readFile(log, 'utf8')).slice(-2000)}`)
}

/** Kills a program. */
export const killProgram = (child: ChildProcess) =>
  new Promise<void>(resolve => {
    if (hasEnded(child)) return resolve()
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null
