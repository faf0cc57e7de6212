import { filesIn } from '../../domain/catalog/inputs.ts'
import { type InputFile, type InputMedia, InputMediaError, type UseInputMedia } from '../../ports/input-media.ts'
import type { Failed, FileReference, Job } from '../../ports/provider.ts'
import type { RequestVendor } from '../../ports/vendor-request.ts'

/** An account at a vendor, from the configuration. */
export interface VendorAccount {
  key: string
  /** Without a trailing slash; by default, the vendor's own URL. */
  baseUrl?: string | undefined
}

/** Throws early, because a later error that quotes a header could show the key. */
export const assertKey = (key: string, variable: string): void => {
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new Error(`${variable} holds a character that is not allowed in a key; set the variable again`)
}

/** The dependencies of every vendor's adapter. */
export interface VendorDependencies extends VendorAccount {
  request: RequestVendor
  useInputMedia: UseInputMedia
  /** The address to which the vendor can report ended jobs. Polls also find them. */
  webhookUrl?: string | undefined
}

/** The address to which the vendor reports the end of a job. It identifies the run for every process. */
export const webhookFor = ({ webhookUrl }: VendorDependencies, { runId }: Job): string | undefined =>
  webhookUrl && `${webhookUrl}?run=${runId}`

/**
 * Replaces the files of a job with the vendor's form of them. The files stay in memory while `use` works with the
 * parameters. Rejects with InputMediaError if a file is unusable.
 */
export const withFile = <Result>(
  { runId, accountId, input, upstream: { parameters } }: Job,
  useInputMedia: UseInputMedia,
  signal: AbortSignal,
  toVendor: (media: InputMedia) => unknown,
  use: (parameters: Record<string, unknown>) => Promise<Result>,
): Promise<Result> => {
  const references = referencesIn(parameters)
  const [first, ...further] = references.map(({ fileUrl }) => fileIn(input, fileUrl))
  if (first === undefined) return use(parameters)
  return useInputMedia({ ...first, further, runId, accountId, isLong: true }, signal, async (...media) => {
    const files = new Map<FileReference, unknown>()
    for (const [index, each] of media.entries()) files.set(references[index] as FileReference, await toVendor(each))
    return use(replaced(parameters, files) as Record<string, unknown>)
  })
}

const referencesIn = (value: unknown): FileReference[] => {
  if (isReference(value)) return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(referencesIn) : []
}

const replaced = (value: unknown, files: ReadonlyMap<FileReference, unknown>): unknown => {
  if (isReference(value)) return files.get(value)
  if (Array.isArray(value)) return value.map(each => replaced(each, files))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, replaced(each, files)]))
}

const fileIn = (input: Job['input'], url: string): InputFile => ({
  url,
  parameter: filesIn(input).find(file => file.url === url)?.place,
})

export const toDataUrl = (mimeType: string, base64: string) => `data:${mimeType};base64,${base64}`

/** The outcome if the error is an unusable file of a job. */
export const unusableFile = (error: unknown): Failed | undefined =>
  error instanceof InputMediaError
    ? { kind: 'failed', code: 'invalid_input', message: `${error.parameter}: ${error.message}` }
    : undefined

const isReference = (value: unknown): value is FileReference =>
  typeof value === 'object' && value !== null && 'fileUrl' in value
