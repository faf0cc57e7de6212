import { Unavailable } from '../../ports/faults.ts'

/** Where a request went, for messages. */
export interface Place {
  bucket: string
  server: string
}

export const isAbsent = (error: unknown): boolean => ['NoSuchKey', 'NotFound'].includes(codeOf(error))

export const noBucket = ({ bucket, server }: Place, cause?: unknown) =>
  new Unavailable(
    `bucket ${bucket} does not exist on ${server}; "aws s3 mb s3://${bucket} --endpoint-url …" or "mc mb …/${bucket}" makes one`,
    { cause },
  )

/** What the failure of a request means. What is wrong with the server is Unavailable; all else stays what it is. */
export const toS3Fault = (error: unknown, place: Place): unknown => {
  const { bucket, server } = place
  const code = codeOf(error)
  const { name, message } = error as Error
  if (error instanceof RangeError || code === 'InvalidRange') return new RangeError('there are no such bytes')
  if (code === 'NoSuchBucket') return noBucket(place, error)
  if (REFUSED.includes(code))
    return new Unavailable(
      `${server} refuses the access to bucket ${bucket} (${code}); are the key and the secret in OBJECT_STORE_URL right, and may they use the bucket?`,
      { cause: error },
    )
  if (code === 'EPROTO')
    return new Unavailable(`${server} does not speak TLS; OBJECT_STORE_URL must say ?tls=off if that is wanted`, {
      cause: error,
    })
  const isOfServer = BUSY.test(message) || name === 'S3Error' || (code !== '' && !(error instanceof TypeError))
  if (!isOfServer || WRONG.includes(code)) return error
  return new Unavailable(`bucket ${bucket} on ${server} does not answer (${message || code})`, { cause: error })
}

/** The key, its secret, its rights or the clock are not as they should be. */
const REFUSED = [
  ...['AccessDenied', 'SignatureDoesNotMatch', 'InvalidAccessKeyId', 'RequestTimeTooSkewed'],
  ...['AuthorizationHeaderMalformed', 'ExpiredToken', 'InvalidToken', 'AccountProblem'],
]

/** The request itself is wrong, and would be the next time. */
const WRONG = [
  ...['InvalidArgument', 'InvalidRequest', 'MalformedXML', 'MethodNotAllowed', 'NotImplemented', 'EntityTooLarge'],
  ...['KeyTooLongError', 'InvalidURI', 'InvalidDigest'],
]

/** How the client says that the server answered with a status that asks for another try. Of 5xx, these are all but a few. */
const BUSY = /^Request failed after \d+ retries/

const codeOf = (error: unknown): string => String((error as { code?: unknown } | undefined)?.code ?? '')
