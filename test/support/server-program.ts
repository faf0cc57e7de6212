import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

// What servers of others that the tests start have in common.

/** Far more than any step takes on a busy machine. */
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

/** Ports that are free now, and all different. */
export const freePorts = async (host: string, count: number): Promise<number[]> => {
  const servers = Array.from({ length: count }, () => createServer().listen(0, host))
  await Promise.all(servers.map(server => once(server, 'listening')))
  const ports = servers.map(server => (server.address() as AddressInfo).port)
  await Promise.all(servers.map(server => once(server.close(), 'close')))
  return ports
}

/** Starts a program, whose words go to a file. The kernel kills it when this process ends, in whatever way it does. */
export const launchProgram = async (program: string, args: string[], log: string): Promise<ChildProcess> => {
  const file = await open(log, 'a')
  try {
    return spawn('setpriv', ['--pdeathsig', 'KILL', '--', program, ...args], { stdio: ['ignore', file.fd, file.fd] })
  } finally {
    await file.close()
  }
}

/** Asks a program until it answers. Rejects with its last words when it ends or takes too long. */
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
  throw new Error(`there is no answer: ${(await readFile(log, 'utf8')).slice(-2000)}`)
}

/** Ends a program as a crash would. */
export const killProgram = (child: ChildProcess) =>
  new Promise<void>(resolve => {
    if (hasEnded(child)) return resolve()
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null
