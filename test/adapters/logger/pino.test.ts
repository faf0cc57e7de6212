import t from 'tap'
import { needsPrograms } from '../../support/needs.ts'
import { toRun } from '../../support/program.ts'
import { ProgramProcess, ServiceProcess } from '../../support/service-process.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { traceLog } from '../../support/trace-log.ts'

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
  const { logger, logged } = await traceLog(t)
  const secret = '5f0c8d2be7a94c6f8b1d3e5a7c9f9f3c'
  const kinds = ['sk_live', 'sk_test', 'sk', 'ak']
  for (const kind of kinds) logger.info({ path: `/v1/tg_${kind}_${secret}/x` }, 'request')
  const lines = (await logged(/_ak_/)).trim().split('\n')
  t.same(
    lines.map(line => JSON.parse(line).path),
    kinds.map(kind => `/v1/tg_${kind}_[redacted]/x`),
  )
})
