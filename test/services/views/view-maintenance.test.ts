import t from 'tap'
import { Unavailable } from '../../../src/ports/faults.ts'
import { CheckpointMoved } from '../../../src/ports/view-store.ts'
import { startService } from '../../support/service.ts'

t.test('a rebuild beside a busy projector gives up with advice', async t => {
  const { core } = await startService(t)
  core.views.replaceCells = () => Promise.reject(new CheckpointMoved('the views have advanced'))
  await t.rejects(core.services.views.rebuild({ kind: 'operator', name: 'test' }), {
    constructor: Unavailable,
    message: /repeat the command when less is written/,
  })
})
