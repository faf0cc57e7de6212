import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'

/** The outcome of a request. Times are Unix time, which all processes share. */
export interface RequestRecord {
  kind: 'run' | 'balance'
  account: number
  /** 0 without a response. */
  status: number
  sentAtMs: number
  answeredAtMs: number
}

/** Between two requests, so that the load itself causes no delays. */
const PAUSE_MS = 20

/** Longer than any response may take, so that excessive delays become visible. */
const TIMEOUT_MS = 150_000

const BODY = JSON.stringify({ model: 'nano-banana-2', input: { prompt: 'a lighthouse at dusk' } })

/** Requests runs and balances with each key, one after another, until `end`, which resolves to all records. */
export const sendContinuously = ({
  url,
  keys,
}: {
  url: string
  keys: string[]
}): { end(): Promise<RequestRecord[]> } => {
  const dispatcher = new Agent({ headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS })
  const records: RequestRecord[] = []
  let isOver = false
  const send = async (kind: RequestRecord['kind'], account: number) => {
    const authorization = `Bearer ${keys[account]}`
    const sentAtMs = Date.now()
    const answer = await (kind === 'balance'
      ? request(`${url}/v1/balance`, { dispatcher, headers: { authorization } })
      : request(`${url}/v1/run`, {
          ...{ dispatcher, method: 'POST', body: BODY },
          headers: { authorization, 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() },
        })
    ).catch(() => undefined)
    await answer?.body.dump().catch(() => undefined)
    records.push({ kind, account, status: answer?.statusCode ?? 0, sentAtMs, answeredAtMs: Date.now() })
  }
  const sendRepeatedly = async (kind: RequestRecord['kind'], account: number) => {
    while (!isOver) {
      await send(kind, account)
      await delay(PAUSE_MS)
    }
  }
  const all = keys.flatMap((_, account) => [sendRepeatedly('run', account), sendRepeatedly('balance', account)])
  const end = async () => {
    isOver = true
    await Promise.all(all)
    await dispatcher.close()
    return records
  }
  return { end }
}
