import { toBase64 } from '../../../json/base64.ts'
import type { InputMedia } from '../../../ports/input-media.ts'
import type { Failed } from '../../../ports/provider.ts'
import { toUpload } from '../form.ts'
import { UpstreamCall } from '../upstream-call.ts'
import { toDataUrl, type VendorDependencies } from '../vendor.ts'
import { openReplicate } from './client.ts'
import { replicateFailures } from './failures.ts'

/** The longest file that may be a data URL: https://replicate.com/docs/reference/http#predictions.create */
const MAX_DATA_URL_BYTES = 256 * 1024

/**
 * An address at which a model can read a file. A longer file is uploaded first, as the vendor's library does:
 * https://replicate.com/docs/topics/predictions/input-files If the upload fails, no prediction has begun.
 */
export const inputAddress = async (
  dependencies: VendorDependencies,
  media: InputMedia,
  signal: AbortSignal,
): Promise<string | Failed> => {
  const { mimeType, bytes } = media
  if (bytes.byteLength <= MAX_DATA_URL_BYTES) return toDataUrl(mimeType, toBase64(bytes))
  const call = new UpstreamCall(dependencies.request)
  try {
    const client = await openReplicate(dependencies, call)
    const { urls } = await client.files.create(await toUpload(media), {}, { signal })
    if (!URL.canParse(urls.get)) throw new Error('Replicate sent no address of the file')
    return urls.get
  } catch (error) {
    if (signal.aborted) throw call.unanswered(error, replicateFailures)
    return failureOf(call, error, [dependencies.key])
  }
}

const failureOf = (call: UpstreamCall, error: unknown, secrets: readonly string[]): Failed => {
  try {
    return call.failure(error, replicateFailures, secrets)
  } catch {
    const message = 'The provider is not available now.'
    return { kind: 'failed', code: 'provider_error', message, retryable: true, fault: { kind: 'unreachable' } }
  }
}
