import { type ChildProcess, fork } from 'node:child_process'
import type { Verification } from '../../../schemas/api/audit.ts'
import { Unavailable } from '../../ports/faults.ts'
import type { LogVerifier, VerifierOrder, VerifierReport } from '../../ports/log-verifier.ts'

interface Options {
  /** The program that the child process runs. */
  program: string
  /** The setting of the log to read. */
  eventStore: unknown
  maxMs?: number
  heapMb?: number
}

/**
 * How long a verification may take. 10,000,000 events take two minutes on an idle machine, and the child has a low
 * priority.
 */
const MAX_MS = 15 * 60_000

/** The heap of the child process. It holds a few hundred bytes per run, upload and reference. */
const HEAP_MB = 2048

/** How long the child process may take to close the log before it is killed. */
const CLOSE_MS = 2000

/**
 * Verifies the log in a process of its own. Verification takes memory and a whole core, and neither a fault in the log
 * nor in the verification must harm the service.
 */
export const openLogVerifier = ({ program, eventStore, maxMs = MAX_MS, heapMb = HEAP_MB }: Options): LogVerifier => {
  const children = new Set<ChildProcess>()

  const verify: LogVerifier['verify'] = (account, signal) => {
    signal.throwIfAborted()
    const child = fork(program, [], {
      execArgv: [...process.execArgv, `--max-old-space-size=${heapMb}`],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      serialization: 'advanced',
    })
    children.add(child)
    return new Promise<Verification>((resolve, reject) => {
      let onExit = (how: unknown) => reject(new Unavailable(`the verification ended with ${how}`))
      const leave = (reason: unknown) => {
        // Waits for the exit, which frees the memory for another verification.
        onExit = () => reject(reason)
        end(child)
      }
      const abort = () => leave(signal.reason)
      const late = setTimeout(() => leave(new Unavailable(`the verification took more than ${maxMs} ms`)), maxMs)
      const forget = () => {
        clearTimeout(late)
        signal.removeEventListener('abort', abort)
        children.delete(child)
      }
      signal.addEventListener('abort', abort)
      child.once('message', (report: VerifierReport) => {
        if ('verification' in report) resolve(report.verification)
        else reject(new Unavailable(`the log could not be verified: ${report.failure}`))
        end(child)
      })
      child.once('exit', (code, by) => {
        forget()
        onExit(by ?? code)
      })
      child.on('error', error => {
        // The event also occurs if the process has ended before it took the order.
        if (child.pid !== undefined) return
        forget()
        reject(new Unavailable('the verification could not be started', { cause: error }))
      })
      child.send({ eventStore, account } satisfies VerifierOrder, () => undefined)
    })
  }

  return {
    verify: async (account, signal) => verify(account, signal),
    close: async () => {
      await Promise.all(
        [...children].map(child => {
          const gone = new Promise(resolve => child.once('exit', resolve))
          end(child)
          return gone
        }),
      )
    },
  }
}

/** Lets the child process close the log, so that its reader is removed. */
const end = (child: ChildProcess) => {
  if (child.connected) child.disconnect()
  const kill = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS)
  child.once('exit', () => clearTimeout(kill))
}
