import t from 'tap'
import { FRESH_MS } from '../../../src/domain/account/access.ts'
import { account } from '../../../src/domain/account/account.ts'
import {
  accepted,
  accountErased,
  accountSuspended,
  archiveRuns,
  createKey,
  eraseAccount,
  grantCredits,
  granted,
  keyCreated,
  keyRevoked,
  opened,
  resumeAccount,
  sessionClosed,
  sessionId,
  sessionOpened,
} from '../../support/account-samples.ts'
import { given, THEN_MS } from '../../support/given.ts'

const funded = [opened(), granted(100), keyCreated()]
const completed = { type: 'ErasureCompleted' as const, data: {} }

t.test('an erased account loses its keys and sessions, that of the owner last', async () => {
  given(account, ...funded, sessionOpened(1), sessionOpened(2))
    .when({ ...eraseAccount(), isByOwner: true, session: sessionId(1) })
    .then(
      ...[keyRevoked(), accountErased()],
      ...[sessionClosed(2, 'signed_out_everywhere'), sessionClosed(1, 'signed_out_everywhere')],
    )
  given(account, opened(), accountSuspended()).when(eraseAccount()).then(accountErased())
})

t.test('an account with open runs is not erased, nor by a session without a fresh code', async () => {
  given(account, ...funded, ...accepted({ credits: 10, after: 90 }))
    .when(eraseAccount())
    .refused('account_has_open_runs', { openRuns: 1 })
  given(account, ...funded, sessionOpened(1))
    .when({ ...eraseAccount(), isByOwner: true, session: sessionId(1) }, THEN_MS + FRESH_MS)
    .refused('fresh_code_required')
})

t.test('an erased account accepts only the steps of its erasure', async t => {
  const erased = given(account, ...funded, keyRevoked(), accountErased())
  for (const command of [eraseAccount(), resumeAccount(), grantCredits(10), createKey(2)])
    erased.when(command).refused('account_erased')
  t.equal(erased.when(archiveRuns()).refusal, undefined)
  erased.when({ type: 'CompleteErasure' }).then(completed)
  const gone = given(account, ...funded, keyRevoked(), accountErased(), completed)
  gone.when({ type: 'CompleteErasure' }).then()
  t.same([gone.state.identities, gone.state.balanceMicros], [[], 100_000_000])
})
