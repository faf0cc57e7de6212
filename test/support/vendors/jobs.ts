import type { Test } from 'tap'
import { openVendorRequests } from '../../../src/adapters/outbound/vendor-requests.ts'
import type { VendorDependencies } from '../../../src/adapters/provider/vendor.ts'
import type { UseInputMedia } from '../../../src/ports/input-media.ts'
import { InputMediaError } from '../../../src/ports/input-media.ts'
import type { Job, SubmittedJob } from '../../../src/ports/provider.ts'
import { accountId, runId } from '../account-samples.ts'
import { openFile } from './arriving-file.ts'

export const PICTURE_URL = 'https://example.com/picture.png'
export const PICTURE = Buffer.from('the bytes of a picture')

/** Knows one picture. */
const useInputMedia: UseInputMedia = async ({ url }, _, use) => {
  if (url !== PICTURE_URL) throw new InputMediaError('There is nothing at that address.')
  return use({ mimeType: 'image/png', bytes: Uint8Array.from(PICTURE) })
}

/** The means of an adapter whose vendor is the stub at a URL. */
export const vendorDependencies = (t: Test, key: string, baseUrl: string): VendorDependencies => {
  const { request, close } = openVendorRequests({ memoryBytes: 1e8 })
  t.teardown(close)
  return { key, baseUrl, request, useInputMedia }
}

export const vendorJob = (operation: string, parameters: Record<string, unknown>, model = 'model-x'): Job => ({
  ...{ runId: runId(), accountId: accountId(), endpoint: 'any', input: {} },
  upstream: { model, operation, parameters },
  openFile,
})

/** A job as it is known after a restart. */
export const vendorJobById = (jobId: string, operation: string): SubmittedJob => ({
  ...{ runId: runId(), accountId: accountId(), endpoint: 'any', jobId, input: async () => ({}) },
  upstream: { model: 'model-x', operation },
  openFile,
})
