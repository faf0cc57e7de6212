import t from 'tap'
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
