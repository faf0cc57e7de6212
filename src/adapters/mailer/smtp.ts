import { createTransport } from 'nodemailer'
import type { Mailer, Sender } from '../../ports/mailer.ts'
import { fieldsOf } from './fields.ts'

/** How long each step may wait for the mail server. The default is minutes, too long for a short-lived code. */
const TIMEOUT_MS = 15_000

/** A few connections carry many messages. */
const MAX_CONNECTIONS = 4

interface SmtpOptions {
  /** `smtp://USER:PASSWORD@HOST:PORT` or `smtps://…`. */
  url: string
  from: Sender
  /** The URL of an HTTP proxy to the server. */
  proxy?: string | undefined
}

/** Sends mail through a server. Its errors never contain the address or a secret. */
export const openSmtpMailer = ({ url, from, proxy }: SmtpOptions): Mailer => {
  const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS }
  const transport = createTransport({
    ...{ url, pool: true, maxConnections: MAX_CONNECTIONS, ...timeouts },
    ...(proxy !== undefined && { proxy }),
  })
  return {
    send: async message => {
      try {
        await transport.sendMail(fieldsOf(from, message))
      } catch (error) {
        const { code = 'unknown', responseCode } = error as { code?: string; responseCode?: number }
        throw new Error(`the mail server failed with ${code}${responseCode === undefined ? '' : ` ${responseCode}`}`)
      }
    },
    close: () => transport.close(),
  }
}
