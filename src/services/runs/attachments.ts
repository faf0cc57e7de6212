import type { RunRequest } from '../../../schemas/api/run.ts'
import { essenceOf } from '../../domain/media-types.ts'
import type { InspectionResult } from '../uploads/inspection.ts'

/** A large file of a request that was decoded while it arrived. */
export interface Attachment {
  inspected: InspectionResult
  pieces: readonly Buffer[]
  /** How often the request has it. */
  times: number
}

/** An attachment with the type that the client states. */
export interface LabelledAttachment extends Attachment {
  label: string
}

/**
 * The attachments of a request by their SHA-256, which the request has in place of their Base64. So equal requests are
 * equal texts, and a client that writes such a URL itself can only mean a file that it sends in the same request.
 */
export type Attachments = ReadonlyMap<string, Attachment>

export const NO_ATTACHMENTS: Attachments = new Map()

type Input = Record<string, unknown>

const ADDRESS = /^data:([^,;]*)[^,]*;base64,([0-9a-f]{64})$/i

/** The attachment that a `data:` URL stands for; undefined for other URLs. */
export const attachmentAt = (url: unknown, attachments: Attachments): LabelledAttachment | undefined => {
  const [, label = '', digest = ''] = (typeof url === 'string' && ADDRESS.exec(url)) || []
  const found = attachments.get(digest)
  return found && { ...found, label: essenceOf(label) }
}

/**
 * The attachments that a request still has. If a member came twice, only its last value is left, and no limit would
 * count the file of the other while the run lasts.
 */
export const attachmentsIn = (request: unknown, attachments: Attachments): Attachments => {
  const named = new Set<string | undefined>()
  changed(request, part => void named.add(attachmentAt(part, attachments)?.inspected.sha256))
  return new Map([...attachments].filter(([digest]) => named.has(digest)))
}

/** The attachments that are images of messages. */
export const attachedImages = (input: Input, attachments: Attachments): Attachment[] => {
  if (attachments.size === 0) return []
  const found = holdersIn(input).map(({ url }) => attachmentAt(url, attachments)?.inspected.sha256)
  return [...new Set(found)].flatMap(digest => attachments.get(digest ?? '') ?? [])
}

/**
 * The request with the text of all other attachments. Each comes back as often as it arrived: a short request with many
 * digests, which its client wrote, would become one of many gigabytes.
 */
export const withTexts = (request: RunRequest, attachments: Attachments): RunRequest => {
  if (attachments.size === 0) return request
  const holders = new Set<unknown>(holdersIn(request.input))
  const left = new Map([...attachments.values()].map(each => [each.inspected.sha256, each.times]))
  const textOf = (part: unknown) => {
    if (holders.has(part)) return part
    const attachment = attachmentAt(part, attachments)
    if (!attachment) return undefined
    const { sha256 } = attachment.inspected
    const times = left.get(sha256) as number
    left.set(sha256, times - 1)
    return times > 0
      ? (part as string).replace(/[^,]*$/, () => Buffer.concat(attachment.pieces).toString('base64'))
      : part
  }
  return changed(request, textOf) as RunRequest
}

/** The input with the addresses of attached images, which are given by their SHA-256. */
export const withAddresses = (input: Input, addresses: ReadonlyMap<string, string>): Input => {
  if (addresses.size === 0) return input
  const holders = new Set<unknown>(holdersIn(input))
  const addressed = (part: unknown) => {
    if (!holders.has(part)) return undefined
    const { url, ...others } = part as Holder
    return { ...others, url: addresses.get(ADDRESS.exec(String(url))?.[2] ?? '') ?? url }
  }
  return { ...input, messages: changed(input['messages'], addressed) }
}

/** An object with the URL of an image. */
interface Holder {
  url?: unknown
}

/** The holders in the messages of an input that need not be valid. */
const holdersIn = ({ messages }: Input): Holder[] =>
  [messages]
    .flat()
    .flatMap(message => [Object(message).content].flat())
    .flatMap(part => Object(part).image_url ?? [])

/** A copy of a value with other parts. `change` returns undefined for the parts to keep. */
const changed = (value: unknown, change: (part: unknown) => unknown): unknown => {
  const other = change(value)
  if (other !== undefined) return other
  if (Array.isArray(value)) return value.map(each => changed(each, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, changed(each, change)]))
}
