import type { Receipt } from '../../../schemas/catalog.ts'
import { count, shown } from '../../audit/decimal.ts'
import type { Explanation } from '../../audit/explain/explain.ts'
import { type PriceStep, stepToText } from '../../audit/explain/price-steps.ts'
import type { RunStory, WebhookStep } from '../../audit/explain/run-story.ts'
import type { AccountRecord } from '../../audit/read-log.ts'
import { toColumns } from '../columns.ts'
import { requestToText } from './request-text.ts'
import {
  chainToText,
  credits,
  duration,
  printable,
  SECTION_WIDTH,
  section,
  shortened,
  signedCredits,
  split,
  wrapped,
} from './text.ts'

/** The width of descriptions in a table of 100 columns. */
const WORDS_WIDTH = 40
const ACTOR_WIDTH = 18

export const explanationToText = (explanation: Explanation): string => {
  const { accountId, runId, story, faults } = explanation
  const { model, endpoint } = story.request ?? story.receipt ?? { model: 'unknown', endpoint: 'unknown' }
  return [
    printable(
      `${runId}: ${story.status}, ${model} (${endpoint})${story.isTest ? ', a test run: nothing was debited' : ''}`,
    ),
    section('Request', requestToText(explanation)),
    section('Price', priceToText(explanation)),
    section('Steps', stepsToText(explanation)),
    section('Result', resultToText(story)),
    ...(story.release ? [section('Release', releaseToText(explanation))] : []),
    ...(story.refunds.length > 0 ? [section('Refunds', refundsToText(explanation))] : []),
    ...(story.webhook.length > 0 ? [section('Webhook', webhookToText(explanation))] : []),
    section('Events', eventsToText(explanation)),
    ...chainToText(faults, accountId),
  ].join('\n\n')
}

const stepsToText = ({ story: { steps, jobId }, account: { keys } }: Explanation): string =>
  toColumns(
    steps.map(({ state, at, sinceMs, actor }, index) => [
      at,
      index === 0 ? '' : `+${duration(sinceMs)}`,
      wrapped(
        printable(`${state.replaceAll('_', ' ')}${state === 'submitted' ? ` as job ${jobId}` : ''}`),
        WORDS_WIDTH,
      ),
      wrapped(printable(keys.describe(actor)), ACTOR_WIDTH),
    ]),
    { aligns: ['left', 'right', 'left', 'left'] },
  )

const refundsToText = ({ story: { refunds }, account: { keys } }: Explanation): string =>
  toColumns(
    refunds.map(({ at, credits, reason, actor }) => [
      at,
      split(credits, signedCredits).join('\n'),
      wrapped(printable(reason), WORDS_WIDTH),
      wrapped(printable(keys.describe(actor)), ACTOR_WIDTH),
    ]),
    { aligns: ['left', 'right', 'left', 'left'] },
  )

const webhookToText = ({ story: { webhook }, account: { keys } }: Explanation): string =>
  toColumns(
    webhook.map(step => [
      step.at,
      wrapped(printable(webhookWords(step)), WORDS_WIDTH + 5),
      wrapped(printable(keys.describe(step.actor)), ACTOR_WIDTH),
    ]),
  )

const webhookWords = ({ kind, attempt = 0, status, reason, nextAttemptAt, url }: WebhookStep): string => {
  if (kind === 'delivered') return `attempt ${attempt} delivered the webhook: status ${status}`
  if (kind === 'abandoned') return `abandoned after ${count(attempt, 'attempt')}`
  if (kind === 'redelivery_requested') return `redelivery requested, to ${url}`
  const next = nextAttemptAt === undefined ? 'the last attempt' : `the next at ${nextAttemptAt}`
  return `attempt ${attempt} failed: ${reason} (${next})`
}

const eventsToText = ({ runId, story: { events, isTest }, account, faults, seal }: Explanation): string => {
  const head = account.last as AccountRecord
  const table = toColumns(
    events.map(({ revision, position, type, id, metadata }) => [
      String(revision),
      `${type}\nposition ${position}`,
      `${printable(id)}\n${metadata.hash}`,
    ]),
    { aligns: ['right', 'left', 'left'] },
  )
  const links =
    faults.length === 0 ? `All links from revision 0 to ${head.revision} were recomputed and are intact.` : ''
  const sealed = seal
    ? [
        `Seal ${seal.name} of ${seal.at}`,
        `covers all of these events.${isTest ? '' : ` "tollgate audit prove --run ${runId}" proves the debit.`}`,
      ]
    : ['No seal covers all of these events yet.']
  return [
    table,
    [links, `The account's newest event is revision ${head.revision} of ${head.metadata.at}:`, head.metadata.hash]
      .filter(Boolean)
      .join('\n'),
    sealed.map(printable).join('\n'),
  ].join('\n\n')
}

/** The width of steps in a table of 100 columns. */
const STEP_WIDTH = 60

/** The price as arithmetic, with the credits after each step. */
const priceToText = ({ story: { receipt, used }, steps, price: { listed, faults } }: Explanation): string => {
  if (!receipt) return 'The run was never debited.'
  const { catalogRevision } = receipt
  const source = listed
    ? `From revision ${catalogRevision} of the catalog, of ${listed.metadata.at}.`
    : `From revision ${catalogRevision} of the catalog, which the log does not have.`
  const verdict =
    faults.length === 0
      ? 'The price recomputed from the receipt and from this price list is the same.'
      : `The price is wrong: ${faults.join('; ')}.`
  return [
    calculation(steps, receipt, 'price'),
    '',
    `Credits used: ${split(used).join(' and ')}.`,
    wrapped(printable(`${source} ${verdict}`), SECTION_WIDTH),
  ].join('\n')
}

const calculation = (steps: PriceStep[], { totalMicros, usdPerCreditMicros }: Receipt, name: string): string => {
  const rows = steps.map(step => [
    wrapped(printable(stepToText(step, usdPerCreditMicros)), STEP_WIDTH),
    shown(step.result),
  ])
  return toColumns([...rows, [`= ${name}`, credits(totalMicros)]], { aligns: ['left', 'right'] })
}

/** The final price, after the price that was debited. */
const releaseToText = ({ story: { release }, finalSteps }: Explanation): string => {
  if (!release) return ''
  const { at, credits, receipt } = release
  const source = receipt.counted ? 'The service counted the tokens.' : 'The provider reported the tokens.'
  return [
    calculation(finalSteps, receipt, 'final price'),
    '',
    wrapped(`${source} The rest of the debit was released at ${at}: ${split(credits).join(' and ')}.`, SECTION_WIDTH),
  ].join('\n')
}

/** The width of a digest. */
const KEY_WIDTH = 71

const resultToText = ({ output, outputDeletedAt, finishReason, error }: RunStory): string => {
  if (error) return wrapped(printable(`Failed as ${error.code}: ${error.message}`), SECTION_WIDTH)
  if (!output) return 'The run has not ended.'
  const { artifacts, text, toolCalls = [], willDeleteAt } = output
  const files = artifacts.map(({ objectKey, mimeType, sizeBytes, sha256 }) => [
    `${wrapped(printable(objectKey), KEY_WIDTH)}\nsha256 ${sha256}`,
    `${printable(mimeType)}\n${count(sizeBytes, 'byte')}`,
  ])
  const deletion = outputDeletedAt
    ? `The files were deleted at ${outputDeletedAt}.`
    : willDeleteAt && files.length > 0 && `The files are kept until ${willDeleteAt}.`
  const parts = [
    files.length > 0 && toColumns(files),
    text !== undefined && wrapped(printable(`text: ${shortened(text)}`), SECTION_WIDTH),
    ...toolCalls.map(({ function: { name, arguments: given } }) =>
      wrapped(printable(`tool call: ${name} ${shortened(given)}`), SECTION_WIDTH),
    ),
    finishReason && `The text ends early: ${EARLY_ENDS[finishReason]}.`,
    deletion,
  ]
  return parts.filter(Boolean).join('\n') || 'The run completed without output.'
}

const EARLY_ENDS = {
  length: 'the answer had reached its longest length',
  cancelled: 'the run was cancelled',
} as const
