import {
  RateLimiterCluster,
  RateLimiterClusterMaster,
  RateLimiterMemory,
  RateLimiterRedis,
  type RateLimiterRes,
} from 'rate-limiter-flexible'
import { type RateCount, type RateCounter, WINDOW_SECONDS } from '../../ports/rate-counter.ts'
import { openRedis, type RedisAddress, toRedisFault } from '../redis/client.ts'

interface RateCounterOptions {
  /** Tests use shorter windows. */
  windowSeconds?: number
}

/** Counts for this process alone. A name takes about 300 bytes until its window ends. */
export const countInMemory = ({ windowSeconds = WINDOW_SECONDS }: RateCounterOptions = {}): RateCounter => {
  const limiter = new RateLimiterMemory({ points: POINTS, duration: windowSeconds })
  return { count: async name => toCount(await limiter.penalty(name)), close: () => undefined }
}

/** Makes this process count for its workers. */
export const countForWorkers = () => new RateLimiterClusterMaster()

/** Counts for all workers of a service, in the process that started them. */
export const countInPrimary = ({ windowSeconds: duration = WINDOW_SECONDS }: RateCounterOptions = {}): RateCounter => {
  const shared = new RateLimiterCluster({ keyPrefix: 'rate', points: POINTS, duration, timeoutMs: PRIMARY_MS })
  const own = countInMemory({ windowSeconds: duration })
  return {
    count: async name => shared.penalty(name).then(toCount, () => own.count(name)),
    close: () => undefined,
  }
}

interface RedisCounterOptions extends RateCounterOptions {
  address: RedisAddress
  keySpace: string
  /** How long a request may wait for Redis. Tests wait longer on a busy machine. */
  commandMs?: number
  /** Called when processes start to count separately. */
  onAway: (fault: Error) => void
  /** Called when they count together again. */
  onBack?: () => void
}

/** Counts for all processes that share a Redis server. While the server is away, counts for this process alone. */
export const countInRedis = ({
  address,
  keySpace,
  commandMs = COMMAND_MS,
  onAway,
  onBack,
  ...options
}: RedisCounterOptions): RateCounter => {
  const { windowSeconds: duration = WINDOW_SECONDS } = options
  const { client, lastError } = openRedis(address, { commandMs, silenceMs: SILENCE_MS })
  const keyPrefix = `{${keySpace}}:rate`
  const shared = new RateLimiterRedis({
    ...{ storeClient: client, keyPrefix, points: POINTS, duration },
    rejectIfRedisNotReady: true,
  })
  const own = countInMemory(options)
  let restsUntilMs = 0
  let isAway = false
  // The client keeps trying.
  client.connect().catch(() => undefined)
  return {
    count: async name => {
      if (performance.now() < restsUntilMs) return own.count(name)
      try {
        const counted = await shared.penalty(name)
        if (isAway) onBack?.()
        isAway = false
        return toCount(counted)
      } catch (error) {
        restsUntilMs = performance.now() + REST_MS
        if (!isAway) onAway(toRedisFault(error, `Redis at ${address.host}:${address.port}`, lastError()))
        isAway = true
        return own.count(name)
      }
    },
    close: () => client.disconnect(),
  }
}

/** The library's own limit is not used, because limits differ by account. */
const POINTS = Number.MAX_SAFE_INTEGER

/** The primary process does little else, so it answers in a fraction of a millisecond. */
const PRIMARY_MS = 250

/** Redis answers in a fraction of a millisecond. */
const COMMAND_MS = 25

/** Detects a server that has vanished without closing the connection. */
const SILENCE_MS = 2_000

/** A server that is away delays only the requests of one moment per second. */
const REST_MS = 1_000

const toCount = ({ consumedPoints, msBeforeNext }: RateLimiterRes): RateCount => ({
  count: consumedPoints,
  leftMs: msBeforeNext,
})
