import { Subject } from 'rxjs'
import t from 'tap'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import { Watch } from '../../../src/engine/views/watch.ts'
import type { RowChange } from '../../../src/ports/view-store.ts'

t.test('ending a wait twice does not end another one', async t => {
  const changes = new Subject<RowChange[]>()
  const watch = new Watch(changes, systemClock)
  const change = [{ view: 'runs', key: 'a', row: {} }]
  const first = watch.begin('runs', 'a', 1000)
  changes.next(change)
  t.equal(await first.changed, true)
  const second = watch.begin('runs', 'a', 1000)
  first.end()
  changes.next(change)
  t.equal(await second.changed, true)
})
