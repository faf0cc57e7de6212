import http from 'node:http'
import https from 'node:https'
import { Client, type ClientOptions } from 'minio'

export type { Client }

/** A bucket on an S3 server, and how to reach it. */
export interface S3Address {
  host: string
  port: number | undefined
  tls: boolean
  region: string
  bucket: string
  accessKey: string
  secretKey: string
}

export const createS3Client = (
  { host, port, tls, region, accessKey, secretKey }: Omit<S3Address, 'bucket'>,
  options: Partial<ClientOptions> = {},
): Client =>
  new Client({
    // URLs put IPv6 addresses in brackets.
    endPoint: host.replace(/^\[|\]$/g, ''),
    ...(port !== undefined && { port }),
    useSSL: tls,
    // Without it, presigning calls the server.
    region,
    accessKey,
    secretKey,
    ...options,
  })

/** How long to keep an idle connection. Many servers close theirs after five seconds. */
const KEEP_ALIVE_MS = 4_000

/** How long a response may stall. A slow consumer stalls it too. */
const STALL_TIMEOUT_MS = 120_000

/** Statuses for which the S3 client does not read the response body. */
const UNREAD = [408, 429, 499, 500, 502, 503, 504, 520]

export const createAgent = (tls: boolean): http.Agent =>
  new (tls ? https : http).Agent({ keepAlive: true, timeout: KEEP_ALIVE_MS })

/** Makes Node.js requests with timeouts for a silent server. */
export const createTransport = (tls: boolean, answerMs: number): Pick<typeof http, 'request'> => {
  const request = (options: https.RequestOptions, onAnswer: (answer: http.IncomingMessage) => void) => {
    let answer: http.IncomingMessage | undefined
    const sent = (tls ? https : http).request({ ...options, timeout: answerMs }, begun => {
      answer = begun
      answer.socket.setTimeout(STALL_TIMEOUT_MS)
      if (UNREAD.includes(answer.statusCode ?? 0)) answer.resume()
      onAnswer(answer)
    })
    const timeout = Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })
    return sent.on('timeout', () => (answer ?? sent).destroy(timeout))
  }
  return { request: request as typeof http.request }
}
