import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createLogger } from '../../../src/adapters/logger/pino.ts'
import { needsPrograms } from '../../support/needs.ts'
import { toRun } from '../../support/program.ts'
import { ProgramProcess, ServiceProcess } from '../../support/service-process.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

t.test('lines are text on a terminal, and JSON elsewhere', needsPrograms('script'), async t => {
  const folder = await temporaryFolder(t)
  const command = toRun('src/main.ts').join(' ')
  // It gives a program a terminal.
  const onTerminal = new ProgramProcess(['script', '-qefc', command, '/dev/null'], { DATA_DIR: folder, PORT: '0' })
  const [line] = await onTerminal.until(/.*listening.*/)
  t.match(line, /\d\d:\d\d:\d\d\.\d{3}.*INFO.*listening.*"url":"http:\/\/localhost:\d+"/)
  await onTerminal.end('SIGTERM')
  const elsewhere = new ServiceProcess(folder)
  const [json] = await elsewhere.until(/^.*"listening".*$/m)
  t.match(JSON.parse(json), { level: 30, msg: 'listening' })
  await elsewhere.end('SIGTERM')
})

t.test('keys of accounts and auditors are redacted', async t => {
  const path = join(await temporaryFolder(t), 'lines')
  const file = await open(path, 'w')
  t.teardown(() => file.close())
  const logger = createLogger('info', file.fd)
  const secret = '5f0c8d2be7a94c6f8b1d3e5a7c9f9f3c'
  for (const kind of ['sk_live', 'sk_test', 'sk', 'ak']) logger.info({ path: `/v1/tg_${kind}_${secret}/x` }, 'request')
  await new Promise<void>(resolve => logger.flush(resolve))
  const paths = (await readFile(path, 'utf8'))
    .trim()
    .split('\n')
    .map(line => JSON.parse(line).path)
  t.same(
    paths,
    ['sk_live', 'sk_test', 'sk', 'ak'].map(kind => `/v1/tg_${kind}_[redacted]/x`),
  )
})
