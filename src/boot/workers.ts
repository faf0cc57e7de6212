import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../ports/logger.ts'
import { countForWorkers } from './stores.ts'

/** A worker that ends at each start must not take the processor from the others. */
const RESTART_MS = 1000

/** How long the first worker goes on during a stop. Answers of the others may wait for the views that it maintains. */
const VIEWS_MS = 1000

/** The environment of the first worker is that of this process. */
const FIRST = {}

/**
 * Runs this program in several processes that share its address, and starts each again that ends. If one cannot start,
 * the others stop, and this process exits with its code.
 */
export class Workers {
  readonly #logger: Logger
  readonly #running = new Set<Worker>()
  #first: Worker | undefined
  #isStopping = false

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /**
   * The first worker has the roles of the environment, and starts alone, since it makes what the stores lack. The
   * others answer requests and do due work, and serve their metrics at the ports after `metricsPort`, if it is not 0.
   */
  async start(count: number, metricsPort = 0) {
    await countForWorkers()
    // Each worker takes connections when it has time. Connections that Node.js hands to a worker in turn would hang if
    // that worker is killed before it has taken them.
    cluster.schedulingPolicy = cluster.SCHED_NONE
    const listening = once(cluster, 'listening')
    this.#start(FIRST)
    await listening
    // Options such as --new-log are for the first start.
    cluster.setupPrimary({ args: [] })
    // A process that answers requests without doing due work would hand sync runs to another.
    for (let other = 1; other < count; other++)
      this.#start({ ROLES: 'api,reactors', ...(metricsPort > 0 && { METRICS_PORT: metricsPort + other }) })
  }

  /** Resolves when all workers have ended. */
  async stop(signal: NodeJS.Signals) {
    this.#isStopping = true
    const others = this.#stopAll(signal, worker => worker !== this.#first)
    await Promise.race([others, delay(VIEWS_MS)])
    await Promise.all([others, this.#stopAll(signal, worker => worker === this.#first)])
  }

  #stopAll(signal: NodeJS.Signals, isMeant: (worker: Worker) => boolean) {
    return Promise.all(
      [...this.#running].filter(isMeant).map(worker => {
        worker.process.kill(signal)
        return once(worker, 'exit')
      }),
    )
  }

  #start(environment: object): Worker {
    const worker = cluster.fork(environment)
    this.#running.add(worker)
    if (environment === FIRST) this.#first = worker
    let isStarted = false
    worker.once('listening', () => {
      isStarted = true
    })
    worker.once('exit', async (code, signal) => {
      this.#running.delete(worker)
      if (this.#isStopping) return
      if (!isStarted && signal === null) {
        // It has said why. One that was killed has not, and may start the next time.
        await this.stop('SIGTERM')
        process.exit(code || 1)
      }
      this.#logger.error({ pid: worker.process.pid, code, signal }, 'a worker has ended; starting another')
      await delay(RESTART_MS)
      if (!this.#isStopping) this.#start(environment)
    })
    return worker
  }
}
