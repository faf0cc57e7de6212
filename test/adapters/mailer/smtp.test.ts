import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import t, { type Test } from 'tap'
import { openSmtpMailer } from '../../../src/adapters/mailer/smtp.ts'

const message = { to: 'ada@example.com', subject: 'Your code', text: 'WDJB-MJHT' }

/** A mail server that takes one user, and what it has received. */
const startServer = async (t: Test) => {
  const received: { from: string; to: string[]; text: string }[] = []
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _, done) =>
      password === 'p@ss' ? done(null, { user: username }) : done(new Error(`wrong password ${password}`)),
    onRcptTo: ({ address }, _, done) =>
      done(address.startsWith('nobody') ? Object.assign(new Error(`no ${address}`), { responseCode: 550 }) : null),
    onData: async (stream, { envelope: { mailFrom, rcptTo } }, done) => {
      let text = ''
      for await (const piece of stream) text += piece
      received.push({ from: (mailFrom as { address: string }).address, to: rcptTo.map(each => each.address), text })
      done()
    },
  })
  server.on('error', () => undefined)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise<void>(resolve => server.close(() => resolve())))
  return { port: (server.server.address() as AddressInfo).port, received }
}

const mailerAt = (t: Test, url: string) => {
  const mailer = openSmtpMailer({ url, from: 'Tollgate <tollgate@example.com>' })
  t.teardown(() => mailer.close())
  return mailer
}

t.test('a message reaches the server of the URL', async t => {
  const { port, received } = await startServer(t)
  await mailerAt(t, `smtp://ada:p%40ss@127.0.0.1:${port}`).send(message)
  t.match(received, [{ from: 'tollgate@example.com', to: ['ada@example.com'], text: /Subject: Your code.*WDJB-MJHT/s }])
})

t.test('errors name neither the address nor the password', async t => {
  const { port } = await startServer(t)
  const refused = mailerAt(t, `smtp://ada:wr0ng@127.0.0.1:${port}`).send(message)
  await t.rejects(refused, { message: 'the mail server failed with EAUTH 535' })
  const unknown = mailerAt(t, `smtp://ada:p%40ss@127.0.0.1:${port}`).send({ ...message, to: 'nobody@example.com' })
  await t.rejects(unknown, { message: 'the mail server failed with EENVELOPE 550' })
  await t.rejects(mailerAt(t, 'smtp://127.0.0.1:1').send(message), { message: 'the mail server failed with ESOCKET' })
})
