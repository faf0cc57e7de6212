import t, { type Test } from 'tap'
import { openSmtpMailer } from '../../../src/adapters/mailer/smtp.ts'
import { startConnectProxy } from '../../support/connect-proxy.ts'
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

t.test('a message goes through a proxy, which resolves the name of the server', async t => {
  const { port, received } = await startMailServer(t)
  const proxy = await startConnectProxy(t, port)
  const url = 'smtp://ada:p%40ss@mail.example:2525'
  const mailer = openSmtpMailer({ url, from: 'Tollgate <tollgate@example.com>', proxy: proxy.url })
  t.teardown(() => mailer.close())
  await mailer.send(message)
  t.match(received, [{ to: ['ada@example.com'] }])
  t.match(proxy.seen, [{ authority: 'mail.example:2525' }])
  proxy.status = 403
  const refused = openSmtpMailer({ url, from: 'Tollgate <tollgate@example.com>', proxy: proxy.url })
  t.teardown(() => refused.close())
  await t.rejects(refused.send(message), { message: /^the mail server failed with \w+$/ })
})

t.test('errors name neither the address nor the password', async t => {
  const { port } = await startMailServer(t)
  const refused = mailerAt(t, `smtp://ada:wr0ng@127.0.0.1:${port}`).send(message)
  await t.rejects(refused, { message: 'the mail server failed with EAUTH 535' })
  const unknown = mailerAt(t, `smtp://ada:p%40ss@127.0.0.1:${port}`).send({ ...message, to: 'nobody@example.com' })
  await t.rejects(unknown, { message: 'the mail server failed with EENVELOPE 550' })
  await t.rejects(mailerAt(t, 'smtp://127.0.0.1:1').send(message), { message: 'the mail server failed with ESOCKET' })
})
