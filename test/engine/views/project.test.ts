import t from 'tap'
import { project } from '../../../src/engine/views/project.ts'
import { compareViews } from '../../../src/engine/views/rebuild.ts'
import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { CheckpointMoved, type ViewStore } from '../../../src/ports/view-store.ts'
import { eventCodec } from '../../../src/services/event-codec.ts'
import { collect } from '../../support/collect.ts'
import { dumpText } from '../../support/dump.ts'
import { openLog, openViews, projections } from '../../support/engine.ts'
import { writeHistory } from '../../support/history.ts'
import { rebuild, rebuildOf } from '../../support/views.ts'

t.test('repeated or misordered events are not folded', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  const events = (await collect(log.readAll(BEFORE_FIRST))).map(raw => eventCodec.decode(raw))
  const { checkpoint } = await project(views, projections, undefined, events.slice(0, 20))
  const before = await dumpText(views)
  const pages = {
    'an earlier event': events.slice(19),
    'a repeated event': [...events.slice(20, 22), ...events.slice(21)],
    'two events swapped': events.slice(20, 22).toReversed(),
    'a missing event': events.slice(20).toSpliced(5, 1),
  }
  for (const [name, page] of Object.entries(pages)) {
    await t.rejects(project(views, projections, checkpoint, page), Unavailable, name)
    t.equal(await dumpText(views), before)
  }
  await project(views, projections, checkpoint, events.slice(20))
})

t.test('a page is not committed on rows that a rebuild has replaced meanwhile', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  const events = (await collect(log.readAll(BEFORE_FIRST))).map(raw => eventCodec.decode(raw))
  const { checkpoint } = await project(views, projections, undefined, events.slice(0, 20))
  const slow: ViewStore = {
    ...views,
    getMany: async addresses => {
      const read = await views.getMany<never>(addresses)
      await rebuild(log, views, await openViews(t))
      return read
    },
  }
  await t.rejects(project(slow, projections, checkpoint, events.slice(20)), CheckpointMoved)
})

t.test('views are not compared with a replay of repeated events', async t => {
  const [log, views, scratch] = [await openLog(t), await openViews(t), await openViews(t)]
  await writeHistory(log)
  const events = (await collect(log.readAll(BEFORE_FIRST))).map(raw => eventCodec.decode(raw))
  await project(views, projections, undefined, events)
  const repeats = {
    ...log,
    async *readAll(after: number) {
      for await (const page of log.readAll(after)) yield page.flatMap(event => [event, event])
    },
  }
  await t.rejects(compareViews(rebuildOf(repeats, views), scratch), Unavailable)
  t.same((await compareViews(rebuildOf(log, views), scratch)).changes, [])
})
