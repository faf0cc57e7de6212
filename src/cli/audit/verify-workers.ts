import { fork } from 'node:child_process'
import { extname } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { OnProgress } from '../../audit/read-log.ts'
import { type Findings, type PartOptions, verifyPart } from '../../audit/verify/part.ts'
import { merge, type Verification } from '../../audit/verify/verify.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { OperatorError, UNABLE } from '../operator-error.ts'

interface Options extends Pick<PartOptions, 'isDense' | 'kept' | 'onProgress'> {
  workers: number
  /** The exported log, if one is verified. */
  file: string | undefined
  /** The program of the other workers. */
  program?: string
}

/** The order for a worker. The worker reads the same file or environment as this process. */
export type WorkerOrder = Pick<PartOptions, 'part' | 'head' | 'isDense'> & { file: string | undefined }

export type WorkerReport = { findings: Findings } | { failure: string }

/**
 * Verifies a log with several workers. This process takes the first part, and a child process takes each other part.
 * Throws OperatorError if a worker could not read the log.
 */
export const verifyWithWorkers = async (
  log: ReadableLog,
  { workers, file, program = workerProgram, isDense, kept, onProgress }: Options,
): Promise<Verification> => {
  const head = await log.head()
  const orderOf = (number: number) => ({ part: { number, of: workers }, head, isDense })
  const others = Array.from({ length: workers - 1 }, (_, index) =>
    startWorker(program, { ...orderOf(index + 1), file }),
  )
  // Reports a failed worker between two pages.
  const onPage: OnProgress = async (position, head) => {
    onProgress?.(position, head)
    await nextTurn()
  }
  try {
    const own = verifyPart(log, { ...orderOf(0), kept, onProgress: onPage })
    return merge(head, await Promise.all([own, ...others.map(({ findings }) => findings)]))
  } finally {
    for (const { end } of others) end()
  }
}

const startWorker = (program: string, order: WorkerOrder): { findings: Promise<Findings>; end(): void } => {
  const child = fork(program, [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], serialization: 'advanced' })
  // The child sees this between two pages, and closes the log.
  const end = () => child.connected && child.disconnect()
  const findings = new Promise<Findings>((resolve, reject) => {
    const fail = (message: string) => reject(new OperatorError(message, UNABLE))
    child.once('message', (report: WorkerReport) => {
      if ('findings' in report) resolve(report.findings)
      else fail(report.failure)
      end()
    })
    child.once('exit', (code, by) => fail(`A worker ended with ${by ?? code} before it finished. ${FEWER}`))
    child.on('error', ({ message }) => fail(`A worker could not be started: ${message}. ${FEWER}`))
    child.send(order, () => undefined)
  })
  return { findings, end }
}

const FEWER = 'The result is unknown. Each worker needs its own memory; try again with --workers 1.'

/** Has this file's extension: `.ts` from source, `.js` once compiled. */
const workerProgram = fileURLToPath(new URL(`./verify-worker${extname(import.meta.url)}`, import.meta.url))
