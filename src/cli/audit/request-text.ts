import type { Artifact } from '../../../schemas/account-events.ts'
import { actorOf } from '../../audit/account/key-ring.ts'
import { count } from '../../audit/decimal.ts'
import { describeCost } from '../../audit/describe-event.ts'
import type { Explanation } from '../../audit/explain/explain.ts'
import type { AccountRecord } from '../../audit/read-log.ts'
import { ownerName } from '../../domain/login/identity.ts'
import { isStoredParameter } from '../../services/runs/long-parameters.ts'
import { toColumns } from '../columns.ts'
import { duration, printable, shortened, wrapped } from './text.ts'

/** The width of a value in a table of 100 columns. */
const VALUE_WIDTH = 78

export const requestToText = ({ accountId, story, account }: Explanation): string => {
  const { request, events, label, upstream, cost } = story
  const first = events[0] as AccountRecord
  const { keyId } = actorOf(first) as { keyId?: string }
  const rows = [
    ['time', `${first.metadata.at} by ${account.keys.describe(actorOf(first))}`],
    ['API key', keyId],
    ['account', `${accountId}, ${account.opening && ownerName(account.opening)}`],
    ['request id', first.metadata.requestId],
    ['idempotency key', request?.idempotency?.key],
    ['label', label],
    ['mode', request && `${request.mode}, at most ${duration(request.timeoutMs)}`],
    ['provider', upstream && [upstream.provider, upstream.model, upstream.version].filter(Boolean).join(', ')],
    ['provider cost', cost && describeCost(cost)],
    ['webhook', request?.webhookUrl],
    ['kept', request?.store === false ? 'nothing but the input that the price depends on' : undefined],
    ...Object.entries(request?.input ?? {}).map(([name, value], index) => [
      index === 0 ? 'input' : '',
      show(name, value),
    ]),
    ...(request?.inputFiles ?? []).map((file, index) => [index === 0 ? 'images' : '', showFile(file, file.mimeType)]),
    ...Object.entries(request?.metadata ?? {}).map(([name, value], index) => [
      index === 0 ? 'metadata' : '',
      show(name, value),
    ]),
  ]
  return toColumns(
    rows.flatMap(([name = '', value]) => (value === undefined ? [] : [[name, wrapped(printable(value), VALUE_WIDTH)]])),
  )
}

const show = (name: string, value: unknown): string => {
  if (isStoredParameter(value)) return `${name}: ${showFile(value, 'JSON')}`
  return `${name}: ${shortened(typeof value === 'string' ? value : JSON.stringify(value))}`
}

const showFile = ({ objectKey, sizeBytes, sha256 }: Artifact, content: string): string =>
  `${count(sizeBytes, 'byte')} of ${content} in ${objectKey}, sha256 ${sha256}`
