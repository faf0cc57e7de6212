import type { ClientCredits } from './credits.ts'
import type { ClientKeys } from './keys.ts'
import type { ClientNotices } from './notices.ts'
import { NO_KEY, NOTHING } from './outcome.ts'
import type { Running, SimulatedProcess } from './process.ts'
import type { ClientPurchases } from './purchases.ts'
import type { ClientRuns } from './runs.ts'
import type { ClientSeals } from './seals.ts'
import type { ClientUploads, UploadCommand } from './uploads.ts'
import type { Visitors } from './visitors.ts'
import type { ClientWebhooks } from './webhooks.ts'

/** The parts of a client. */
export interface Dependencies {
  keys: ClientKeys
  credits: ClientCredits
  runs: ClientRuns
  seals: ClientSeals
  uploads: ClientUploads
  visitors: Visitors
  notices: ClientNotices
  webhooks: ClientWebhooks
  purchases: ClientPurchases
}

export interface Command {
  name: string
  /** How many times as often as others it is sent. */
  weight?: number
  /** Resolves to the outcome. */
  send(dependencies: Dependencies, running: Running, process: SimulatedProcess): Promise<string>
  /** The expected outcomes. Those of uploads are judged where they are sent. */
  expected?: string[]
}

/** Outcomes of a key that a process does not know any more, or not yet. */
export const OF_OTHER_KEYS = [NO_KEY, 'key_revoked']

/** The outcome of a command of a client whose account is suspended. */
export const SUSPENDED = 'account_suspended'

const ofKeys = ['ok', NOTHING, SUSPENDED, ...OF_OTHER_KEYS]

/** The outcomes of runs that are not paid. */
const unpaid = ['insufficient_credits', 'credits_owed', 'budget_exceeded']

const ofUploads = (name: UploadCommand): Command => ({
  name,
  send: async ({ keys, uploads }, running, process) => {
    const caller = await keys.liveCaller(running)
    return caller ? uploads[name](running, process, caller) : NO_KEY
  },
})

const commands: Command[] = [
  {
    name: 'run',
    weight: 5,
    send: ({ runs }, ...to) => runs.run(...to),
    expected: [...ofKeys, ...unpaid],
  },
  {
    name: 'talk',
    weight: 4,
    send: ({ runs }, ...to) => runs.talk(...to),
    expected: [...ofKeys, ...unpaid],
  },
  {
    name: 'repeat',
    weight: 2,
    send: ({ runs }, ...to) => runs.repeat(...to),
    expected: [...ofKeys, ...unpaid, 'input_file_refused'],
  },
  {
    name: 'cancel',
    send: ({ runs }, ...to) => runs.cancel(...to),
    expected: [...ofKeys, 'run_not_open', 'run_not_found'],
  },
  {
    name: 'find',
    weight: 2,
    send: ({ runs }, ...to) => runs.find(...to),
    expected: [...ofKeys, 'run_not_found', 'of the other mode'],
  },
  { name: 'balance', weight: 2, send: ({ credits }, ...to) => credits.balance(...to), expected: ofKeys },
  {
    name: 'misuse',
    send: ({ runs }, to) => runs.misuse(to),
    expected: [NOTHING, SUSPENDED, ...OF_OTHER_KEYS, 'idempotency_mismatch'],
  },
  { name: 'grant', send: ({ credits }, ...to) => credits.grant(...to), expected: ['ok'] },
  { name: 'withdraw', send: ({ credits }, ...to) => credits.withdraw(...to), expected: ['ok', 'insufficient_credits'] },
  {
    name: 'refund',
    send: ({ runs }, to) => runs.refund(to),
    expected: ['ok', NOTHING, 'run_not_found', 'run_not_ended', 'refund_too_high', 'run_not_charged'],
  },
  {
    name: 'redeliver',
    send: ({ runs }, to) => runs.redeliver(to),
    expected: ['ok', NOTHING, 'webhook_not_found', 'run_not_ended', 'webhook_pending'],
  },
  { name: 'setNotices', send: ({ notices }, to) => notices.set(to), expected: ['ok'] },
  {
    name: 'resend',
    send: ({ webhooks }, to) => webhooks.resend(to),
    expected: [
      ...[...ofKeys, 'run_not_found', 'webhook_not_found'],
      ...['run_not_ended', 'webhook_pending', 'too_many_resends'],
    ],
  },
  { name: 'listDeliveries', send: ({ webhooks }, to) => webhooks.listDeliveries(to), expected: ofKeys },
  {
    name: 'findDelivery',
    send: ({ webhooks }, to) => webhooks.findDelivery(to),
    expected: [...ofKeys, 'run_not_found'],
  },
  {
    name: 'rotateSecret',
    send: ({ webhooks }, to) => webhooks.rotateSecret(to),
    expected: [...ofKeys, 'webhook_secret_rotated', 'live_key_required'],
  },
  {
    name: 'testWebhook',
    send: ({ webhooks }, to) => webhooks.testWebhook(to),
    expected: [...ofKeys, 'too_many_webhook_tests'],
  },
  { name: 'createKey', send: ({ keys }, to) => keys.createKey(to), expected: ['ok', 'too_many_keys'] },
  { name: 'revokeKey', send: ({ keys }, to) => keys.revokeKey(to), expected: ['ok', NOTHING, 'key_not_found'] },
  { name: 'suspend', send: ({ keys }, to) => keys.suspend(to), expected: ['ok', NOTHING, 'account_already_suspended'] },
  { name: 'resume', weight: 2, send: ({ keys }, to) => keys.resume(to), expected: ['ok', 'account_not_suspended'] },
  {
    name: 'retouch',
    weight: 2,
    send: ({ runs }, ...to) => runs.retouch(...to),
    expected: [...ofKeys, ...unpaid, 'input_file_refused'],
  },
  { name: 'keepSeal', send: ({ seals }, to) => seals.keepSeal(to), expected: [...ofKeys, 'seal_not_found'] },
  {
    name: 'proveRun',
    send: ({ seals }, to) => seals.proveRun(to),
    expected: [...ofKeys, 'event_not_sealed', 'too_many_proofs'],
  },
  { name: 'proveConsistency', send: ({ seals }, to) => seals.proveConsistency(to), expected: ofKeys },
  {
    name: 'requestCode',
    send: ({ visitors }, to) => visitors.requestCode(to),
    expected: ['ok', 'too_many_codes', 'too_many_sign_ins'],
  },
  {
    name: 'enterCode',
    weight: 2,
    send: ({ visitors }, to) => visitors.enterCode(to),
    expected: ['ok', NOTHING, 'code_wrong', 'code_not_valid', 'too_many_sign_ins'],
  },
  { name: 'visit', send: ({ visitors }, to) => visitors.visit(to), expected: ['ok', NOTHING, 'session_ended'] },
  {
    name: 'signOutEverywhere',
    send: ({ visitors }, to) => visitors.signOutEverywhere(to),
    expected: ['ok', NOTHING, 'session_ended'],
  },
  {
    name: 'buy',
    weight: 3,
    send: ({ purchases }, to) => purchases.buy(to),
    expected: [...ofKeys, 'live_key_required', 'too_many_purchases'],
  },
  {
    name: 'comeBack',
    weight: 2,
    send: ({ purchases }, to) => purchases.comeBack(to),
    expected: [...ofKeys, 'purchase_not_found'],
  },
  {
    name: 'setTopUp',
    weight: 3,
    send: ({ purchases }, to) => purchases.setTopUp(to),
    expected: [...ofKeys, 'live_key_required', 'no_kept_method', 'top_up_not_found'],
  },
  {
    name: 'removeTopUp',
    send: ({ purchases }, to) => purchases.removeTopUp(to),
    expected: [...ofKeys, 'live_key_required', 'top_up_not_found'],
  },
  {
    name: 'refundPurchase',
    weight: 2,
    send: ({ purchases }, to) => purchases.refundPurchase(to),
    expected: ['ok', NOTHING, 'purchase_not_found', 'purchase_not_paid', 'refund_above_rest'],
  },
  { name: 'refundAtService', send: ({ purchases }) => purchases.refundAtService() },
  { name: 'dispute', weight: 2, send: ({ purchases }) => purchases.dispute() },
  { ...ofUploads('upload'), weight: 3 },
  ...(['presign', 'putAgain', 'findUpload', 'listUploads', 'deleteUpload'] as const).map(ofUploads),
]

/** The commands that clients choose from, each as often as it weighs. */
export const COMMANDS = commands.flatMap(command => Array.from({ length: command.weight ?? 1 }, () => command))
