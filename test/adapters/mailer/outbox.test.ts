import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { openOutbox } from '../../../src/adapters/mailer/outbox.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const message = { to: 'ada@example.com', subject: 'Your code', text: 'It is\n\n    WDJB-MJHT\n' }
const from = 'Tollgate <tollgate@example.com>'

t.test('each message is a whole file that only its owner can read', async t => {
  const folder = join(await temporaryFolder(t), 'outbox')
  const outbox = openOutbox({ folder, from })
  t.equal(outbox.folder, folder)
  await outbox.send(message)
  await outbox.send({ ...message, to: 'bob@example.com' })
  const names = (await readdir(folder)).sort()
  t.equal(names.length, 2)
  for (const name of names) {
    t.match(name, /\.eml$/)
    t.equal((await stat(join(folder, name))).mode & 0o777, 0o600)
  }
  t.equal((await stat(folder)).mode & 0o777, 0o700)
  const first = await readFile(join(folder, names[0] as string), 'utf8')
  for (const line of [`From: ${from}`, 'To: ada@example.com', 'Subject: Your code', 'Auto-Submitted: auto-generated'])
    t.ok(first.includes(`${line}\r\n`) || first.includes(`${line}\n`), line)
  t.match(first, /\n {4}WDJB-MJHT\r?\n/)
})

t.test('an address cannot add a header or a receiver', async t => {
  const folder = await temporaryFolder(t)
  await openOutbox({ folder, from }).send({ ...message, to: 'ada@example.com\r\nBcc: eve@example.com' })
  const [name = ''] = await readdir(folder)
  t.notMatch(await readFile(join(folder, name), 'utf8'), /^Bcc:/m)
})

t.test('the oldest files are removed, also those that a process left incomplete', async t => {
  const folder = join(await temporaryFolder(t), 'outbox')
  await mkdir(folder)
  await writeFile(join(folder, '2001-01-01.part'), 'inc')
  await writeFile(join(folder, 'README'), 'not ours')
  const outbox = openOutbox({ folder, from, maxKept: 2 })
  for (const text of ['message 1', 'message 2', 'message 3']) await outbox.send({ ...message, text })
  const names = (await readdir(folder)).sort()
  t.equal(names.length, 3)
  t.ok(names.includes('README'))
  const texts = await Promise.all(names.map(name => readFile(join(folder, name), 'utf8')))
  t.notOk(texts.some(text => /message 1|inc$/.test(text)))
})
