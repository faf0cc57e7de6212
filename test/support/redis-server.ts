import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Needs, needsPrograms } from './needs.ts'
import { freePorts, isInstalled, killProgram, launchProgram, STEP_MS, untilAnswers } from './server-program.ts'

/** A real Redis server, in memory by default. */
export interface RedisServer {
  host: string
  port: number
  url: string
  /** Sends a command as a line, and resolves to the first chunk of the reply. */
  command(line: string): Promise<string>
  /** Kills it. Its folder stays. */
  kill(): Promise<void>
  /** Restarts it after `kill` with the same port and folder. Resolves when it replies, even if it is still loading. */
  start(settings?: string[]): Promise<void>
  /** Stops the process, but keeps its connections open. */
  pause(): void
  continue(): void
  /** Kills it, and removes its folder. */
  stop(): Promise<void>
}

const HOST = '127.0.0.1'

const PROGRAMS = ['redis-server', 'setpriv']
const IN_MEMORY = ['--save', '', '--appendonly', 'no']

/** The tap options of tests that need the server, and perhaps other programs. */
export const needsRedis = (...others: string[]): Needs => needsPrograms(...PROGRAMS, ...others)

/** Starts an empty server, and retries once if a port was taken meanwhile. The caller must stop it. */
export const startRedis = async (settings: string[] = []): Promise<RedisServer> => {
  const missing = PROGRAMS.filter(program => !isInstalled(program))
  if (missing.length > 0) throw new Error(`missing programs: ${missing.join(', ')}; install redis-server`)
  return tryStart(settings).catch(() => tryStart(settings))
}

const tryStart = async (settings: string[]): Promise<RedisServer> => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-redis-'))
  const [port] = (await freePorts(HOST, 1)) as [number]
  const log = join(folder, 'redis.log')
  const args = ['--bind', HOST, '--port', String(port), '--dir', folder, ...IN_MEMORY, ...settings]
  let child: ChildProcess | undefined

  const kill = async () => {
    if (child) await killProgram(child)
  }
  const start = async (more: string[] = []) => {
    child = await launchProgram('redis-server', [...args, ...more], log)
    await untilAnswers(child, log, async () =>
      /^\+PONG|^-NOAUTH|^-LOADING/.test(await send(port, 'PING').catch(() => '')),
    )
  }
  const stop = async () => {
    await kill()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await start()
  } catch (error) {
    await stop()
    throw error
  }
  return {
    ...{ host: HOST, port, url: `redis://${HOST}:${port}`, kill, start, stop },
    command: line => send(port, line),
    pause: () => child?.kill('SIGSTOP'),
    continue: () => child?.kill('SIGCONT'),
  }
}

const send = (port: number, line: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket: Socket = connect(port, HOST, () => socket.write(`${line}\r\n`))
    socket.setEncoding('utf8').setTimeout(STEP_MS, () => socket.destroy(new Error('redis-server does not respond')))
    socket.once('error', reject).once('data', (answer: string) => {
      resolve(answer)
      socket.destroy()
    })
    socket.once('close', () => reject(new Error('redis-server closed the connection')))
  })
