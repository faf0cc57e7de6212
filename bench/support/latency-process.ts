import { Agent, request } from 'undici'

/** A request that is sent again and again on one connection. */
export interface RepeatedRequest {
  url: string
  headers: Record<string, string>
  body: object
  /** The answer counts as arrived with the first piece that has this text. By default, it counts once it is whole. */
  until?: string
}

/** Enough for both sides to have compiled what they run. */
const WARM_UP = 200

/** Sends one request after another on one connection, and tells the median of the times to the answers. */
const { url, headers, body, until, requests } = JSON.parse(process.argv[2] as string) as RepeatedRequest & {
  requests: number
}
const dispatcher = new Agent({ connections: 1 })
const sent = { dispatcher, method: 'POST', headers, body: JSON.stringify(body) } as const
const times: number[] = []
for (let index = 0; index < WARM_UP + requests; index++) {
  const startMs = performance.now()
  const answer = await request(url, sent)
  let arrivedMs: number | undefined
  let text = ''
  for await (const piece of answer.body) {
    text += piece
    if (until && text.includes(until)) arrivedMs ??= performance.now()
  }
  if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}: ${text}`)
  if (until && !arrivedMs) throw new Error(`${url} answered without ${until}: ${text}`)
  if (index >= WARM_UP) times.push((arrivedMs ?? performance.now()) - startMs)
}
times.sort((a, b) => a - b)
const medianMicros = (times[Math.floor(requests / 2)] as number) * 1000
process.send?.({ medianMicros, sent: WARM_UP + requests }, () => process.exit(0))
