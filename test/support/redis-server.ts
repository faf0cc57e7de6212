import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from './radosgw-ports.ts'

/** A real Redis of its own, in memory unless its settings say otherwise. */
export interface RedisServer {
  host: string
  port: number
  url: string
  /** Sends a command as a line, and resolves to what comes first of the answer. */
  command(line: string): Promise<string>
  /** Ends it, as a crash would. Its folder stays. */
  kill(): Promise<void>
  /** Starts it again after `kill`, on the same port and folder, and resolves when it answers, be it that it is loading. */
  start(settings?: string[]): Promise<void>
  /** It keeps its connections, and does nothing. */
  pause(): void
  continue(): void
  /** Ends it, and removes its folder. */
  stop(): Promise<void>
}

const HOST = '127.0.0.1'

/** Far more than any step takes on a busy machine. */
const STEP_MS = 20_000

const PROGRAMS = ['redis-server', 'setpriv']
const IN_MEMORY = ['--save', '', '--appendonly', 'no']

/** What a test that needs the server takes as its options; where the tests must be whole, what is missing is no reason to skip. */
export const needsRedis = (): { skip: string | false } => ({
  skip: !PROGRAMS.every(isInstalled) && process.env['CI'] !== 'true' && 'redis-server is not installed',
})

/** Starts a server that is empty, and tries once more where a port was taken meanwhile. Whoever starts it stops it. */
export const startRedis = async (settings: string[] = []): Promise<RedisServer> => {
  const missing = PROGRAMS.filter(program => !isInstalled(program))
  if (missing.length > 0) throw new Error(`There is no ${missing.join(', no ')}: install redis-server.`)
  return tryStart(settings).catch(() => tryStart(settings))
}

export const isInstalled = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some(folder => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })

const tryStart = async (settings: string[]): Promise<RedisServer> => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-redis-'))
  const [port] = (await freePorts(HOST, 1)) as [number]
  const log = join(folder, 'redis.log')
  const args = ['--bind', HOST, '--port', String(port), '--dir', folder, ...IN_MEMORY, ...settings]
  let child: ChildProcess | undefined

  const kill = async () => {
    if (child) await end(child)
  }
  const start = async (more: string[] = []) => {
    child = await launch([...args, ...more], log)
    await answers(child, port, log)
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
    command: line => ask(port, line),
    pause: () => child?.kill('SIGSTOP'),
    continue: () => child?.kill('SIGCONT'),
  }
}

/** The kernel kills what is started here when this process ends, in whatever way it does. */
const launch = async (args: string[], log: string): Promise<ChildProcess> => {
  const file = await open(log, 'a')
  try {
    const stdio = ['ignore', file.fd, file.fd] as const
    return spawn('setpriv', ['--pdeathsig', 'KILL', '--', 'redis-server', ...args], { stdio: [...stdio] })
  } finally {
    await file.close()
  }
}

const answers = async (child: ChildProcess, port: number, log: string) => {
  const until = Date.now() + STEP_MS
  while (Date.now() < until && !hasEnded(child)) {
    const answer = await ask(port, 'PING').catch(() => '')
    if (/^\+PONG|^-NOAUTH|^-LOADING/.test(answer)) return
    await sleep(20)
  }
  throw new Error(`redis-server does not answer: ${(await readFile(log, 'utf8')).slice(-2000)}`)
}

const ask = (port: number, line: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket: Socket = connect(port, HOST, () => socket.write(`${line}\r\n`))
    socket.setEncoding('utf8').setTimeout(STEP_MS, () => socket.destroy(new Error('redis-server fell silent')))
    socket.once('error', reject).once('data', (answer: string) => {
      resolve(answer)
      socket.destroy()
    })
    socket.once('close', () => reject(new Error('redis-server closed the connection')))
  })

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

const end = (child: ChildProcess) =>
  new Promise<void>(resolve => {
    if (hasEnded(child)) return resolve()
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })
