import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'

/** What became of one request, by the clock that all processes share. */
export interface Asked {
  kind: 'run' | 'balance'
  account: number
  /** 0 where no answer came. */
  status: number
  sentAtMs: number
  answeredAtMs: number
}

/** Between two requests, since this is to find waits and not to be one. */
const PAUSE_MS = 20

/** Longer than any answer may take, so that a wait that is too long is seen as such. */
const TIMEOUT_MS = 150_000

const BODY = JSON.stringify({ model: 'nano-banana-2', input: { prompt: 'a lighthouse at dusk' } })

/** Asks a service for runs and balances, with each key one after another, until it is ended; resolves then to all that was asked. */
export const askThroughout = ({ url, keys }: { url: string; keys: string[] }): { end(): Promise<Asked[]> } => {
  const dispatcher = new Agent({ headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS })
  const asked: Asked[] = []
  let isOver = false
  const ask = async (kind: Asked['kind'], account: number) => {
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
    asked.push({ kind, account, status: answer?.statusCode ?? 0, sentAtMs, answeredAtMs: Date.now() })
  }
  const keepAsking = async (kind: Asked['kind'], account: number) => {
    while (!isOver) {
      await ask(kind, account)
      await delay(PAUSE_MS)
    }
  }
  const all = keys.flatMap((_, account) => [keepAsking('run', account), keepAsking('balance', account)])
  const end = async () => {
    isOver = true
    await Promise.all(all)
    await dispatcher.close()
    return asked
  }
  return { end }
}
