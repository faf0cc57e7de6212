import { Unavailable } from '../../ports/faults.ts'

/** The target of a request, for messages. */
export interface Place {
  bucket: string
  server: string
}

export const isAbsent = (error: unknown): boolean => ['NoSuchKey', 'NotFound'].includes(codeOf(error))

/** Whether the object already exists, and the request was to store it only if absent. */
export const isTaken = (error: unknown): boolean => codeOf(error) === 'PreconditionFailed'

/** The error of an object that a bulk deletion did not delete. The client declares a wrong type for it. */
export const notDeleted = (fault: object, place: Place): unknown => {
  const { Key, Code, Message } = fault as { Key?: string; Code?: string; Message?: string }
  return toS3Fault(Object.assign(new Error(`${Key}: ${Message || Code}`), { name: 'S3Error', code: Code }), place)
}

export const noBucket = ({ bucket, server }: Place, cause?: unknown) =>
  new Unavailable(
    `bucket ${bucket} does not exist on ${server}; ` +
      `create it with "aws s3 mb s3://${bucket} --endpoint-url …" or "mc mb …/${bucket}"`,
    { part: 'objects', cause },
  )

/** Maps errors of the server to Unavailable and RangeError, and returns all others unchanged. */
export const toS3Fault = (error: unknown, place: Place): unknown => {
  const { bucket, server } = place
  const code = codeOf(error)
  const { name, message } = error as Error
  if (error instanceof RangeError || code === 'InvalidRange') return new RangeError('there are no such bytes')
  if (code === 'NoSuchBucket') return noBucket(place, error)
  if (REFUSED.includes(code))
    return new Unavailable(
      `${server} denies access to bucket ${bucket} (${code}); ` +
        'check the key and secret in OBJECT_STORE_URL, and their permissions for the bucket',
      { part: 'objects', cause: error },
    )
  if (code === 'EPROTO')
    return new Unavailable(`${server} does not use TLS; for plain HTTP, add ?tls=off to OBJECT_STORE_URL`, {
      part: 'objects',
      cause: error,
    })
  const isServerError = BUSY.test(message) || name === 'S3Error' || (code !== '' && !(error instanceof TypeError))
  if (!isServerError || WRONG.includes(code)) return error
  return new Unavailable(`bucket ${bucket} on ${server} does not answer (${message || code})`, {
    part: 'objects',
    cause: error,
  })
}

/** The key, the secret, the permissions or the clock are wrong. */
const REFUSED = [
  ...['AccessDenied', 'SignatureDoesNotMatch', 'InvalidAccessKeyId', 'RequestTimeTooSkewed'],
  ...['AuthorizationHeaderMalformed', 'ExpiredToken', 'InvalidToken', 'AccountProblem'],
]

/** The request itself is wrong, so a retry would fail too. */
const WRONG = [
  ...['InvalidArgument', 'InvalidRequest', 'MalformedXML', 'MethodNotAllowed', 'NotImplemented', 'EntityTooLarge'],
  ...['KeyTooLongError', 'InvalidURI', 'InvalidDigest'],
]

/** The client's error after a status that asks for a retry, including most 5xx. */
const BUSY = /^Request failed after \d+ retries/

const codeOf = (error: unknown): string => String((error as { code?: unknown } | undefined)?.code ?? '')
