import t from 'tap'
import { Damaged, Unavailable } from '../../src/ports/faults.ts'
import { Outage } from '../../src/time/outage.ts'

t.test('an outage is logged when it begins and when it ends, however often its work is retried', async t => {
  const lines: string[] = []
  const keep = (_: object, message: string) => void lines.push(message)
  const outage = new Outage({ error: keep, info: keep }, 'away', 'back')
  outage.passed()
  for (let attempt = 0; attempt < 3; attempt++) outage.failed(new Unavailable(`attempt ${attempt}`))
  t.same(lines, ['away'])
  outage.failed(new Damaged('another kind'))
  outage.passed()
  outage.passed()
  t.same(lines, ['away', 'away', 'back'])
  outage.failed(new Unavailable('again'))
  t.same(lines, ['away', 'away', 'back', 'away'])
})
