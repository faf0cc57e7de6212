import t, { type Test } from 'tap'
import { openSmtpMailer } from '../../../src/adapters/mailer/smtp.ts'
import { startMailServer } from '../../support/mail-server.ts'

const message = { to: 'ada@example.com', subject: 'Your code', text: 'WDJB-MJHT' }

const mailerAt = (t: Test, url: string) => {
  const mailer = openSmtpMailer({ url, from: 'Tollgate <tollgate@example.com>' })
  t.teardown(() => mailer.close())
  return mailer
}

t.test('a message reaches the server of the URL', async t => {
  const { port, received } = await startMailServer(t)
  await mailerAt(t, `smtp://ada:p%40ss@127.0.0.1:${port}`).send(message)
  t.match(received, [{ from: 'tollgate@example.com', to: ['ada@example.com'], text: /Subject: Your code.*WDJB-MJHT/s }])
})

t.test('errors name neither the address nor the password', async t => {
  const { port } = await startMailServer(t)
  const refused = mailerAt(t, `smtp://ada:wr0ng@127.0.0.1:${port}`).send(message)
  await t.rejects(refused, { message: 'the mail server failed with EAUTH 535' })
  const unknown = mailerAt(t, `smtp://ada:p%40ss@127.0.0.1:${port}`).send({ ...message, to: 'nobody@example.com' })
  await t.rejects(unknown, { message: 'the mail server failed with EENVELOPE 550' })
  await t.rejects(mailerAt(t, 'smtp://127.0.0.1:1').send(message), { message: 'the mail server failed with ESOCKET' })
})
