import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import type { Test } from 'tap'

export interface ReceivedMail {
  from: string
  to: string[]
  text: string
}

/** A mail server that takes one user. */
export interface MailServer {
  port: number
  /** What configures a service to use it. */
  environment: { SMTP_URL: string; MAIL_FROM: string }
  received: ReceivedMail[]
  /** Whether it refuses messages from now on. */
  isFull: boolean
}

/** Starts a mail server that knows everybody but those whose names start with `nobody`. */
export const startMailServer = async (t: Test): Promise<MailServer> => {
  const mail: MailServer = { port: 0, environment: { SMTP_URL: '', MAIL_FROM: '' }, received: [], isFull: false }
  const refusal = (responseCode: number, text: string) => Object.assign(new Error(text), { responseCode })
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _, done) =>
      password === 'p@ss' ? done(null, { user: username }) : done(new Error(`wrong password ${password}`)),
    onRcptTo: ({ address }, _, done) =>
      done(
        address.startsWith('nobody')
          ? refusal(550, `no ${address}`)
          : mail.isFull
            ? refusal(452, `no room for ${address}`)
            : null,
      ),
    onData: async (stream, { envelope: { mailFrom, rcptTo } }, done) => {
      let text = ''
      try {
        for await (const piece of stream) text += piece
      } catch {
        // The client was killed while it sent the message.
        return
      }
      const from = (mailFrom as { address: string }).address
      mail.received.push({ from, to: rcptTo.map(each => each.address), text })
      done()
    },
  })
  server.on('error', () => undefined)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise<void>(resolve => server.close(() => resolve())))
  mail.port = (server.server.address() as AddressInfo).port
  mail.environment = {
    SMTP_URL: `smtp://ada:p%40ss@127.0.0.1:${mail.port}`,
    MAIL_FROM: 'Tollgate <tollgate@example.com>',
  }
  return mail
}
