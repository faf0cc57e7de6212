import type { Artifact } from '../../../schemas/account-events.ts'
import { actorOf, type KeyRing } from '../../audit/account/key-ring.ts'
import type { Explanation } from '../../audit/explain/explain.ts'
import type { PriceStep } from '../../audit/explain/price-steps.ts'
import type { RunStory, WebhookStep } from '../../audit/explain/run-story.ts'
import type { AccountRecord } from '../../audit/read-log.ts'
import { fromMicros } from '../../domain/money.ts'
import { actorToJson, costToJson, creditsToJson, eventToJson, sealToJson } from './json.ts'
import { chainToJson } from './text.ts'

export const explanationToJson = (explanation: Explanation) => {
  const { accountId, runId, story, account, faults, seal } = explanation
  const { keys } = account
  return {
    run_id: runId,
    account_id: accountId,
    email: account.opening?.email ?? null,
    livemode: !story.isTest,
    status: story.status,
    ...requestToJson(story, keys),
    ...creditsToJson('credits_used', story.used),
    price: priceToJson(explanation),
    steps: story.steps.map(({ state, at, sinceMs, actor }) => ({
      ...{ state, at, ms_since_step_before: sinceMs },
      actor: actorToJson(actor, keys),
    })),
    output: outputToJson(story),
    error: story.error ?? null,
    usage: story.usage ?? null,
    release: releaseToJson(explanation),
    refunds: story.refunds.map(({ at, credits, reason, actor }) => ({
      at,
      ...creditsToJson('credits', credits),
      reason,
      actor: actorToJson(actor, keys),
    })),
    webhook_url: story.request?.webhookUrl ?? null,
    webhook: story.webhook.map(step => webhookToJson(step, keys)),
    events: story.events.map(eventToJson),
    account_head: eventToJson(account.last as AccountRecord),
    seal: sealToJson(seal),
    ...chainToJson(faults),
  }
}

const requestToJson = ({ events, request, receipt, label, jobId, upstream, cost }: RunStory, keys: KeyRing) => {
  const first = events[0] as AccountRecord
  return {
    requested_at: first.metadata.at,
    requested_by: actorToJson(actorOf(first), keys),
    request_id: first.metadata.requestId ?? null,
    idempotency_key: request?.idempotency?.key ?? null,
    request_hash: request?.idempotency?.requestHash ?? null,
    model: request?.model ?? receipt?.model ?? null,
    endpoint: request?.endpoint ?? receipt?.endpoint ?? null,
    mode: request?.mode ?? null,
    provider: upstream?.provider ?? null,
    upstream_model: upstream?.model ?? null,
    upstream_version: upstream?.version ?? null,
    provider_cost: cost ? costToJson(cost) : null,
    job_id: jobId ?? null,
    timeout_ms: request?.timeoutMs ?? null,
    retry: request?.retry ? { attempts: request.retry.attempts, back_off_ms: request.retry.backOffMs } : null,
    ...(request?.store === false && { store: false }),
    input: request?.input ?? null,
    input_files: (request?.inputFiles ?? []).map(fileToJson),
    metadata: request?.metadata ?? null,
    label: label ?? null,
  }
}

const priceToJson = ({ story: { receipt }, steps, price: { listed, faults } }: Explanation) =>
  receipt
    ? {
        credits: fromMicros(receipt.totalMicros),
        usd_per_credit: receipt.usdPerCreditMicros === undefined ? null : fromMicros(receipt.usdPerCreditMicros),
        lines: steps.map(stepToJson),
        catalog_revision: receipt.catalogRevision,
        catalog_event: listed ? eventToJson(listed) : null,
        agrees: faults.length === 0,
        faults,
      }
    : null

const releaseToJson = ({ story: { release }, finalSteps }: Explanation) =>
  release
    ? {
        at: release.at,
        ...creditsToJson('credits', release.credits),
        price: {
          credits: fromMicros(release.receipt.totalMicros),
          counted: release.receipt.counted === true,
          lines: finalSteps.map(stepToJson),
        },
      }
    : null

/** A step of a price with the credits after it. */
export const stepToJson = ({ line, result }: PriceStep) => {
  switch (line.kind) {
    case 'base':
      return { kind: line.kind, credits: fromMicros(line.amountMicros), result }
    case 'quantity':
      return { ...line, result }
    case 'multiplier': {
      const { kind, parameter, value, factorMicros } = line
      return { ...{ kind, parameter, value }, factor: fromMicros(factorMicros), result }
    }
    case 'surcharge': {
      const { kind, parameter, equals = null, usdMicros, amountMicros } = line
      return { ...{ kind, parameter, equals }, usd: fromMicros(usdMicros), credits: fromMicros(amountMicros), result }
    }
    case 'tokens': {
      const { kind, tokens, count, perMillionMicros } = line
      return { ...{ kind, tokens, count }, credits_per_million: fromMicros(perMillionMicros), result }
    }
    case 'rounding':
      return { kind: line.kind, result }
  }
}

const fileToJson = ({ objectKey, mimeType, sizeBytes, sha256 }: Artifact) => ({
  ...{ object_key: objectKey, mime_type: mimeType, size_bytes: sizeBytes, sha256 },
})

const outputToJson = ({ output, outputDeletedAt, finishReason }: RunStory) =>
  output
    ? {
        files: output.artifacts.map(fileToJson),
        text: output.text ?? null,
        tool_calls: output.toolCalls ?? [],
        finish_reason: finishReason ?? null,
        will_delete_at: output.willDeleteAt ?? null,
        deleted_at: outputDeletedAt ?? null,
      }
    : null

const webhookToJson = (
  { kind, at, actor, attempt, status, reason, nextAttemptAt, url }: WebhookStep,
  keys: KeyRing,
) => ({
  ...{ kind, at },
  attempt: attempt ?? null,
  status: status ?? null,
  reason: reason ?? null,
  next_attempt_at: nextAttemptAt ?? null,
  url: url ?? null,
  actor: actorToJson(actor, keys),
})
