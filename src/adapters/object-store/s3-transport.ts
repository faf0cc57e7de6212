import http from 'node:http'
import https from 'node:https'

/** How long a connection that nobody uses is kept. Many servers close theirs after five seconds. */
const KEEP_ALIVE_MS = 4_000

/** How long an answer that has begun may stand still. Whoever reads it may be slow, and then it must. */
const STANDSTILL_MS = 120_000

/** The statuses at which the S3 client gives up without a look at the rest of the answer. */
const UNREAD = [408, 429, 499, 500, 502, 503, 504, 520]

export const createAgent = (tls: boolean): http.Agent =>
  new (tls ? https : http).Agent({ keepAlive: true, timeout: KEEP_ALIVE_MS })

/** Node.js's requests, but a server that falls silent is not waited for without end. */
export const createTransport = (tls: boolean, answerMs: number): Pick<typeof http, 'request'> => {
  const request = (options: https.RequestOptions, onAnswer: (answer: http.IncomingMessage) => void) => {
    let answer: http.IncomingMessage | undefined
    const sent = (tls ? https : http).request({ ...options, timeout: answerMs }, begun => {
      answer = begun
      answer.socket.setTimeout(STANDSTILL_MS)
      if (UNREAD.includes(answer.statusCode ?? 0)) answer.resume()
      onAnswer(answer)
    })
    const silence = Object.assign(new Error('it fell silent'), { code: 'ETIMEDOUT' })
    return sent.on('timeout', () => (answer ?? sent).destroy(silence))
  }
  return { request: request as typeof http.request }
}
