import { FILE_PARAMETERS } from '../../domain/catalog/file-parameters.ts'
import { fromMicros } from '../../domain/money.ts'
import type { RefusalCode, Refusals } from '../../domain/refusal.ts'
import { fileFault, type RefusalWords, urlFaults } from '../../services/refusal-words.ts'
import type { ErrorDetails } from '../../transports/api-error.ts'
import { TOLLGATE_POSITION } from '../answers/headers.ts'

/** The details of the refusals that have some. */
export const details: { [Code in RefusalCode]?: (facts: Refusals[Code], words: RefusalWords) => ErrorDetails } = {
  model_not_found: ({ replacedBy }) => replacement(replacedBy),
  model_not_listed: ({ replacedBy }) => replacement(replacedBy),
  kind_not_offered: () => ({ errors: [{ path: '/input', message: 'selects a kind that the model does not have' }] }),
  input_invalid: ({ faults }) => ({
    errors: faults.map(({ path, message }) => ({ path: `/input${path}`, message })),
  }),
  input_file_refused: ({ parameter, reason }, words) => ({
    errors: [{ path: `/input/${parameter}`, message: fileFault(words, parameter, reason) }],
  }),
  address_not_public: ({ parameter }) => ({
    errors: [
      {
        path: parameter in FILE_PARAMETERS ? `/input/${parameter}` : `/${parameter}`,
        message: 'must have a public host that is not denied',
      },
    ],
  }),
  part_too_large: ({ path, limitBytes }) => ({
    errors: [{ path, message: `must be at most ${limitBytes} bytes of JSON` }],
  }),
  file_url_invalid: ({ parameter, fault }) => ({
    errors: [{ path: `/input/${parameter}`, message: urlFaults[fault] }],
  }),
  webhook_url_invalid: ({ parameter, fault }) => ({ errors: [{ path: `/${parameter}`, message: urlFaults[fault] }] }),
  notice_address_unlinked: () => ({
    errors: [{ path: '/email_address', message: 'must be an e-mail address of the account' }],
  }),
  test_key_budget: () => ({ errors: [{ path: '/budget', message: 'must be left out of a test key' }] }),
  key_expiry_past: () => ({ errors: [{ path: '/expires_at', message: 'must be in the future' }] }),
  key_model_unknown: ({ index }) => ({ errors: [{ path: `/models/${index}`, message: 'is not a model' }] }),
  key_address_invalid: ({ index }) => ({
    errors: [{ path: `/addresses/${index}`, message: 'must be an IP address or a CIDR range' }],
  }),
  budget_exceeded: ({ requiredMicros, budgetMicros, spentMicros, renewsAt }) => ({
    required_credits: fromMicros(requiredMicros),
    budget_credits: fromMicros(budgetMicros),
    spent_credits: fromMicros(spentMicros),
    renews_at: renewsAt,
  }),
  insufficient_credits: ({ requiredMicros, balanceMicros }) => ({
    required_credits: fromMicros(requiredMicros),
    credits_balance: fromMicros(balanceMicros),
  }),
  seals_not_in_order: () => ({ errors: [{ path: '/from', message: 'must be less than to' }] }),
  position_unknown: () => ({
    errors: [{ path: `/headers/${TOLLGATE_POSITION}`, message: 'is beyond the end of the log' }],
  }),
  cursor_unknown: () => ({ errors: [{ path: '/cursor', message: 'is no next_cursor of this list' }] }),
  revision_unknown: ({ lastRevision }) => ({ errors: [{ path: '/at', message: `must be at most ${lastRevision}` }] }),
  time_ahead: () => ({ errors: [{ path: '/at', message: 'must not be in the future' }] }),
  usage_days_invalid: ({ maxDays }) => ({
    errors: [{ path: '/to', message: `must be 1 to ${maxDays} days after from` }],
  }),
  upload_too_large: ({ limitBytes }) => ({
    errors: [{ path: '/size_bytes', message: `must be at most ${limitBytes}` }],
  }),
}

const replacement = (replacedBy: string | undefined): ErrorDetails =>
  replacedBy === undefined ? {} : { replaced_by: replacedBy }
