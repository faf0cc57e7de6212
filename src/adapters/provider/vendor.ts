import { type InputMedia, InputMediaError, type UseInputMedia } from '../../ports/input-media.ts'
import type { Failed, FileReference, Job } from '../../ports/provider.ts'

/** An account at a vendor, from the environment. */
export interface VendorAccount {
  key: string
  /** Without a trailing slash. The vendor's own, if absent. */
  baseUrl?: string | undefined
}

/** Throws before an error that quotes a header can show the key. */
export const assertKey = (key: string, variable: string): void => {
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Error(`${variable} holds a character that no key has; set it again`)
}

/** The means of every vendor's adapter. */
export interface VendorParts extends VendorAccount {
  fetch: typeof fetch
  useInputMedia: UseInputMedia
  /** The address to which the vendor reports the end of its jobs, if it can. Polls find it out too. */
  webhookUrl?: string | undefined
}

/** The address to which the vendor reports the end of a job. Any process can tell from it which run it is about. */
export const webhookFor = ({ webhookUrl }: VendorParts, { runId }: Job): string | undefined =>
  webhookUrl && `${webhookUrl}?run=${runId}`

/**
 * Replaces the file of a job, if it has one, by what the vendor takes for it. The file stays in memory while `use`
 * works with the parameters. Rejects with InputMediaError if the file is unusable.
 */
export const withFile = <Result>(
  { runId, accountId, upstream: { parameters } }: Job,
  useInputMedia: UseInputMedia,
  signal: AbortSignal,
  toVendor: (media: InputMedia) => unknown,
  use: (parameters: Record<string, unknown>) => Promise<Result>,
): Promise<Result> => {
  const url = Object.values(parameters).flat().find(isReference)?.fileUrl
  if (url === undefined) return use(parameters)
  return useInputMedia({ url, runId, accountId, isLong: true }, signal, async media => {
    const file = await toVendor(media)
    const replace = (value: unknown) => (isReference(value) ? file : value)
    const filled = Object.entries(parameters).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(replace) : replace(value),
    ])
    return use(Object.fromEntries(filled))
  })
}

export const toDataUrl = (mimeType: string, base64: string) => `data:${mimeType};base64,${base64}`

/** The outcome if an error says that the file of a job is unusable. */
export const unusableFile = (error: unknown): Failed | undefined =>
  error instanceof InputMediaError
    ? { kind: 'failed', code: 'invalid_input', message: `image_url: ${error.message}` }
    : undefined

const isReference = (value: unknown): value is FileReference =>
  typeof value === 'object' && value !== null && 'fileUrl' in value
