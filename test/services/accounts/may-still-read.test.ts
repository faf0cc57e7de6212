import t from 'tap'
import { mayStillRead } from '../../../src/services/accounts/may-still-read.ts'
import type { Answer } from '../../../src/services/answer.ts'
import type { SessionOwner } from '../../../src/services/caller.ts'
import { SESSION_MS } from '../../../src/services/sign-in/sessions.ts'
import { openLog } from '../../support/engine.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { signInOn } from '../../support/sign-in.ts'
import { unwrap } from '../../support/unwrap.ts'

t.test('a long request of a session ends with the session', async t => {
  const clock = new ManualClock()
  const process = signInOn(await openLog(t), clock)
  const { accounts, holders } = process
  const signedIn = async () => {
    const { token } = unwrap(await process.enter(await process.codeFor('ada@example.com')))
    return unwrap((await holders.ownerOf(token)) as Answer<SessionOwner>)
  }
  const [first, second] = [await signedIn(), await signedIn()]
  t.equal(await mayStillRead({ accounts, clock }, first), true)
  await process.sessions.close(first)
  t.equal(await mayStillRead({ accounts, clock }, first), false)
  t.equal(await mayStillRead({ accounts, clock }, second), true, 'another session is open')
  clock.advance(SESSION_MS)
  t.equal(await mayStillRead({ accounts, clock }, second), false)
})
