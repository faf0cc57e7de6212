import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts, isInstalled, killProgram, launchProgram, STEP_MS, untilAnswers } from './server-program.ts'

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
      /^\+PONG|^-NOAUTH|^-LOADING/.test(await ask(port, 'PING').catch(() => '')),
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
    command: line => ask(port, line),
    pause: () => child?.kill('SIGSTOP'),
    continue: () => child?.kill('SIGCONT'),
  }
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
