import { percentDecode } from '../percent-decode.ts'
import type { S3Address } from './s3-client.ts'

/** S3 servers with a single region accept this name. */
const DEFAULT_REGION = 'us-east-1'

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html */
const BUCKET = /^[a-z0-9](?:[a-z0-9-]|\.(?!\.)){1,61}[a-z0-9]$/

/**
 * Parses `s3://KEY:SECRET@HOST:PORT/BUCKET?region=…&tls=off`. Returns a string for an invalid address: the error
 * message, which never contains the secret.
 */
export const parseS3Url = (text: string): S3Address | string => {
  if (!URL.canParse(text)) return 'must be a valid URL'
  // A port is always kept: the URL standard drops default ports only for schemes that it knows.
  const { hostname: host, port, username, password, pathname, searchParams } = new URL(text)
  const [accessKey, secretKey] = [percentDecode(username), percentDecode(password)]
  if (!host || !accessKey || !secretKey) return 'must have a key, a secret and a host, percent-encoded where needed'
  const bucket = pathname.slice(1)
  if (!BUCKET.test(bucket)) return 'must name a bucket of 3 to 63 lowercase letters, digits, dots and hyphens'
  const unknown = [...searchParams.keys()].find(name => name !== 'region' && name !== 'tls')
  if (unknown !== undefined) return `has the unknown parameter ${JSON.stringify(unknown)}`
  const tls = searchParams.get('tls') ?? 'on'
  if (tls !== 'on' && tls !== 'off') return 'must have tls=on or tls=off'
  const region = searchParams.get('region') ?? DEFAULT_REGION
  return { host, port: port ? Number(port) : undefined, tls: tls === 'on', region, bucket, accessKey, secretKey }
}
