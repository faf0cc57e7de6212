import type { Contents, Media } from '../../../ports/provider.ts'
import type { LargeFiles } from '../large-files.ts'
import { UpstreamCall } from '../upstream-call.ts'
import type { VendorDependencies } from '../vendor.ts'
import { API_VERSION, baseUrlOf, headersOf } from './api.ts'
import { failures } from './failures.ts'

/** A file in the store of the API, such as `/v1beta/files/8xwk4uyz5zyx:download?alt=media`. */
const FILE_PATH = /^\/(?:download\/)?v1\w*\/files\/([\w-]+)(?=[:/?]|$)/

/** A download is redirected once: https://www.rubydoc.info/gems/ruby_llm/RubyLLM/Protocols/Gemini/Videos */
const MAX_HOPS = 3

/** Fields of content, interactions and videos that hold a file. */
export const FILE_PLACE = /"(data|encodedVideo)"\s*:\s*"$/

/** A file of a result: the bytes or the address. */
export interface ResultFile {
  data?: unknown
  uri?: unknown
  mimeType: string
}

/** A file could not be loaded. */
export class FileError extends Error {
  override name = 'FileError'
  /** The file no longer exists: Google deletes videos after two days. */
  readonly isGone: boolean

  constructor(cause: Error, isGone: boolean) {
    super(cause.message, { cause })
    this.isGone = isGone
  }
}

/** Reads a file or its address; undefined without either. Rejects with FileError. */
export const readFile = async (
  dependencies: VendorDependencies,
  { data, uri, mimeType }: ResultFile,
  files: LargeFiles,
  signal: AbortSignal,
): Promise<Media | undefined> => {
  if (typeof data === 'string' && data !== '') return { mimeType, ...files.fromBase64(data) }
  if (typeof uri !== 'string' || !isHttp(uri)) return undefined
  const name = FILE_PATH.exec(pathOf(dependencies, uri))?.[1]
  if (name === undefined) return { mimeType, url: uri }
  let path = `/${API_VERSION}/files/${name}:download?alt=media`
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    const found = await download(dependencies, baseUrlOf(dependencies) + path, files.forFile(), signal)
    if (typeof found !== 'string') return { mimeType, ...found }
    path = pathOf(dependencies, found)
    if (!FILE_PATH.test(path)) return { mimeType, url: found }
  }
  throw new FileError(new Error('Google redirects a download in a circle'), false)
}

/** The path below the configured base URL. */
const pathOf = (dependencies: VendorDependencies, url: string): string => {
  const base = baseUrlOf(dependencies)
  if (url.startsWith(`${base}/`)) return url.slice(base.length)
  const { pathname, search } = new URL(url)
  return pathname + search
}

/**
 * Loads a file from the store of the API, which requires the key. A recorded address must not contain the key, so the
 * bytes are loaded here. The key is sent only to the server that the operator configured. Resolves to the target of a
 * redirect if there is one.
 */
const download = async (
  dependencies: VendorDependencies,
  url: string,
  files: LargeFiles,
  signal: AbortSignal,
): Promise<Contents | string> => {
  const call = new UpstreamCall(dependencies.request, files)
  try {
    return files.fromBody((await call.send(url, { headers: headersOf(dependencies), signal })).body)
  } catch (error) {
    const { status = 0, headers } = call.refusal ?? {}
    const location = status >= 300 && status < 400 ? headers?.location : undefined
    const target = location && URL.canParse(location, url) ? new URL(location, url).href : ''
    if (isHttp(target)) return target
    throw new FileError(call.unanswered(error, failures), status === 404 || status === 410)
  }
}

const isHttp = (address: string) => /^https?:/.test(address) && URL.canParse(address)
