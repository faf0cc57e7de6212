import http from 'node:http'
import https from 'node:https'

/** How long to keep an idle connection. Many servers close theirs after five seconds. */
const KEEP_ALIVE_MS = 4_000

/** How long a response may stall once it has begun. A slow consumer stalls it too. */
const STALL_TIMEOUT_MS = 120_000

/** Statuses for which the S3 client does not read the response body. */
const UNREAD = [408, 429, 499, 500, 502, 503, 504, 520]

export const createAgent = (tls: boolean): http.Agent =>
  new (tls ? https : http).Agent({ keepAlive: true, timeout: KEEP_ALIVE_MS })

/** Node.js requests with timeouts for a silent server. */
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
