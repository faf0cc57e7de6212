import { fileParameters } from '../../domain/catalog/file-parameters.ts'
import { type InputFile, type InputMedia, InputMediaError, type UseInputMedia } from '../../ports/input-media.ts'
import type { Failed, FileReference, Job } from '../../ports/provider.ts'

/** An account at a vendor, from the environment. */
export interface VendorAccount {
  key: string
  /** Without a trailing slash. The vendor's own, if absent. */
  baseUrl?: string | undefined
}

/** Throws before an error that quotes a header can show the key. */
export const assertKey = (key: string, variable: string): void => {
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new Error(`${variable} holds a character that is not allowed in a key; set the variable again`)
}

/** The means of every vendor's adapter. */
export interface VendorDependencies extends VendorAccount {
  fetch: typeof fetch
  useInputMedia: UseInputMedia
  /** The address to which the vendor reports the end of its jobs, if it can. Polls find it out too. */
  webhookUrl?: string | undefined
}

/** The address to which the vendor reports the end of a job. Any process can tell from it which run it is about. */
export const webhookFor = ({ webhookUrl }: VendorDependencies, { runId }: Job): string | undefined =>
  webhookUrl && `${webhookUrl}?run=${runId}`

/**
 * Replaces the files of a job, if it has any, by what the vendor takes for them. They stay in memory while `use` works
 * with the parameters. Rejects with InputMediaError if one is unusable.
 */
export const withFile = <Result>(
  { runId, accountId, input, upstream: { parameters } }: Job,
  useInputMedia: UseInputMedia,
  signal: AbortSignal,
  toVendor: (media: InputMedia) => unknown,
  use: (parameters: Record<string, unknown>) => Promise<Result>,
): Promise<Result> => {
  const references = Object.values(parameters).flat().filter(isReference)
  const [first, ...further] = references.map(({ fileUrl }) => fileIn(input, fileUrl))
  if (first === undefined) return use(parameters)
  return useInputMedia({ ...first, further, runId, accountId, isLong: true }, signal, async (...media) => {
    const files: unknown[] = []
    for (const each of media) files.push(await toVendor(each))
    const replace = (value: unknown) => (isReference(value) ? files[references.indexOf(value)] : value)
    const filled = Object.entries(parameters).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(replace) : replace(value),
    ])
    return use(Object.fromEntries(filled))
  })
}

const fileIn = (input: Job['input'], url: string): InputFile => ({
  url,
  parameter: fileParameters.find(name => input[name] === url),
})

export const toDataUrl = (mimeType: string, base64: string) => `data:${mimeType};base64,${base64}`

/** The outcome if an error says that a file of a job is unusable. */
export const unusableFile = (error: unknown): Failed | undefined =>
  error instanceof InputMediaError
    ? { kind: 'failed', code: 'invalid_input', message: `${error.parameter}: ${error.message}` }
    : undefined

const isReference = (value: unknown): value is FileReference =>
  typeof value === 'object' && value !== null && 'fileUrl' in value
