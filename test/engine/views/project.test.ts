import t from 'tap'
import { decode } from '../../../src/engine/log/codec.ts'
import { project } from '../../../src/engine/views/project.ts'
import { compareViews } from '../../../src/engine/views/rebuild.ts'
import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { collect } from '../../support/collect.ts'
import { dumpText } from '../../support/dump.ts'
import { openLog, openViews } from '../../support/engine.ts'
import { writeHistory } from '../../support/history.ts'

t.test('events that come twice or out of order are not folded', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  const events = (await collect(log.readAll(BEFORE_FIRST))).map(raw => decode(raw))
  const { checkpoint } = await project(views, undefined, events.slice(0, 20))
  const before = await dumpText(views)
  const pages = {
    'an event from before': events.slice(19),
    'an event twice': [...events.slice(20, 22), ...events.slice(21)],
    'two events swapped': events.slice(20, 22).toReversed(),
    'all but one event': events.slice(20).toSpliced(5, 1),
  }
  for (const [name, page] of Object.entries(pages)) {
    await t.rejects(project(views, checkpoint, page), Unavailable, name)
    t.equal(await dumpText(views), before)
  }
  await project(views, checkpoint, events.slice(20))
})

t.test('views are not compared with a replay of events that came twice', async t => {
  const [log, views, scratch] = [await openLog(t), await openViews(t), await openViews(t)]
  await writeHistory(log)
  const events = (await collect(log.readAll(BEFORE_FIRST))).map(raw => decode(raw))
  await project(views, undefined, events)
  const repeats = {
    ...log,
    async *readAll(after: number) {
      for await (const page of log.readAll(after)) yield page.flatMap(event => [event, event])
    },
  }
  await t.rejects(compareViews(repeats, views, scratch), Unavailable)
  t.same((await compareViews(log, views, scratch)).changes, [])
})
